import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download, FileQuestion, FileWarning, FileX, FolderOpen } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { usePageTitle } from '../../app/page-title.ts'
import { Button, buttonStyle } from '../../components/button.tsx'
import { PageHeader } from '../../components/card.tsx'
import { EmptyState, Loaded, Skeleton } from '../../components/states.tsx'
import { useDownload } from '../files/node-tasks.tsx'
import { useFilePermissions } from '../files/files-context.tsx'
import { nameOf, parentOf } from '../files/paths.ts'
import { PathBreadcrumbs } from '../files/path-breadcrumbs.tsx'
import { useServer } from '../server-context.tsx'
import { FileEditor } from './file-editor.tsx'
import { openFileQuery } from './open-file.ts'

/** Shows a file for editing. Use the path as its `key`. */
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
        {(content) =>
          content.kind === 'text' ? (
            <FileEditor
              key={opened.dataUpdatedAt}
              file={content.file}
              stamp={content.stamp}
              path={file}
              onReload={() => void opened.refetch()}
            />
          ) : (
            <UnsupportedFile kind={content.kind} file={file} />
          )
        }
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

const icons = {
  binary: FileWarning,
  large: FileWarning,
  special: FileWarning,
  missing: FileX,
  folder: FileQuestion,
}

/** Shows why a file cannot be edited as text. */
function UnsupportedFile({ kind, file }: { kind: keyof typeof icons; file: string }) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  return (
    <EmptyState icon={icons[kind]} title={t(`refusal.${kind}`)} text={t(`refusal.${kind}_text`)}>
      {kind === 'folder' && (
        <Link
          to="/server/$server/files"
          params={{ server: id }}
          search={{ directory: file }}
          className={buttonStyle('primary')}
        >
          {t('open_folder')}
        </Link>
      )}
    </EmptyState>
  )
}
