import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download, FolderOpen } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { Button, buttonStyle } from '../../components/button.tsx'
import { PageHeader } from '../../components/card.tsx'
import { Loaded, Skeleton } from '../../components/states.tsx'
import { useFilePermissions } from '../files/files-context.tsx'
import { nameOf, parentOf } from '../files/paths.ts'
import { PathBreadcrumbs } from '../files/path-breadcrumbs.tsx'
import { useDownload } from '../files/use-download.ts'
import { useServer } from '../server-context.tsx'
import { FileEditor } from './file-editor.tsx'
import { openFileQuery } from './open-file.ts'

const UnsupportedFile = lazy(async () => ({
  default: (await import('./unsupported-file.tsx')).UnsupportedFile,
}))
const FilePreview = lazy(async () => ({
  default: (await import('../preview/file-preview.tsx')).FilePreview,
}))

/** Shows a file for editing, or a preview of an image or archive. Use the path as its `key`. */
export function EditPage({ file }: { file: string }) {
  const { id, server } = useServer()
  const opened = useQuery(openFileQuery(id, file))
  const name = nameOf(file)
  usePageTitle(name, server.name)
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div>
        <PageHeader title={name} actions={<FileActions file={file} />} />
        <PathBreadcrumbs path={file} />
      </div>
      <Loaded query={opened} skeleton={<Skeleton rows={1} className="h-96" />}>
        {(content) => {
          if (content.kind === 'text')
            return (
              <FileEditor
                key={opened.dataUpdatedAt}
                file={content.file}
                stamp={content.stamp}
                path={file}
                onReload={() => void opened.refetch()}
              />
            )
          if (content.kind === 'preview')
            return (
              <Suspense fallback={<Skeleton rows={1} className="h-96" />}>
                <FilePreview file={file} as={content.as} size={content.size} />
              </Suspense>
            )
          return (
            <Suspense>
              <UnsupportedFile kind={content.kind} file={file} />
            </Suspense>
          )
        }}
      </Loaded>
    </div>
  )
}

function FileActions({ file }: { file: string }) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const rights = useFilePermissions()
  const { download, isPending } = useDownload()
  return (
    <>
      <Link
        to="/server/$server/files"
        params={{ server: id }}
        search={{ directory: parentOf(file) }}
        className={buttonStyle('quiet')}
      >
        <FolderOpen aria-hidden className="size-4" /> {t('to_folder')}
      </Link>
      {rights.read && (
        <Button icon={Download} busy={isPending} onClick={() => download(file)}>
          {t('strings:action.download')}
        </Button>
      )}
    </>
  )
}
