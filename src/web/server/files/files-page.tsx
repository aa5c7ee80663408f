import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { FolderOpen, FolderX, SearchX } from 'lucide-react'
import { lazy, Suspense, useMemo, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { type FileEntry, filesQuery } from '../../api/files.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { Banner } from '../../components/badge.tsx'
import { buttonStyle } from '../../components/button.tsx'
import { PageHeader } from '../../components/card.tsx'
import { EmptyState, Loaded, Skeleton } from '../../components/states.tsx'
import { useServer } from '../server-context.tsx'
import { filterAndSort, type Sort } from './entries.ts'
import { useDialog } from './use-dialog.ts'
import { FileTable } from './file-table.tsx'
import { FilterField, FilesHeaderActions } from './file-toolbar.tsx'
import { FilesProvider, useFilePermissions, useFiles } from './files-context.tsx'
import { nameOf } from './paths.ts'
import { PathBreadcrumbs } from './path-breadcrumbs.tsx'
import { useSelection } from './selection.ts'
import { UploadArea } from './upload-area.tsx'
import { useUploads } from './use-uploads.ts'

const FileDialogs = lazy(async () => ({ default: (await import('./file-dialogs.tsx')).FileDialogs }))
const CollisionDialog = lazy(async () => ({
  default: (await import('./collision-dialog.tsx')).CollisionDialog,
}))

const SelectionBar = lazy(async () => ({ default: (await import('./selection-bar.tsx')).SelectionBar }))
const DeepSearch = lazy(async () => ({ default: (await import('./deep-search.tsx')).DeepSearch }))

const noEntries: FileEntry[] = []

/** Shows a folder. Use the path as its `key`: selection and filter belong to one folder. */
export function FilesPage({ directory }: { directory: string }) {
  const { t } = useTranslation('files')
  const { id, server } = useServer()
  const rights = useFilePermissions()
  const { dialog, open, close } = useDialog()
  const content = useQuery(filesQuery(id, directory))
  const uploads = useUploads(directory)
  usePageTitle(directory === '/' ? t('title') : nameOf(directory), server.name)
  const isMissing = asRequestError(content.error)?.status === 404
  const entries = (isMissing ? undefined : content.data?.entries) ?? noEntries
  const isTruncated = content.data?.isTruncated === true
  const view = useMemo(
    () => ({ directory, entries, isTruncated, open }),
    [directory, entries, isTruncated, open],
  )
  return (
    <FilesProvider value={view}>
      <div className="flex min-w-0 flex-col gap-3">
        <div>
          <PageHeader title={t('title')} actions={<FilesHeaderActions onChosen={uploads.add} />} />
          <PathBreadcrumbs path={directory} />
        </div>
        {isMissing ? (
          <MissingFolder />
        ) : (
          <Loaded query={content} skeleton={<Skeleton rows={8} className="h-10" />}>
            {() =>
              rights.create ? (
                <UploadArea onChosen={uploads.add}>
                  <FolderContent />
                </UploadArea>
              ) : (
                <FolderContent />
              )
            }
          </Loaded>
        )}
      </div>
      {dialog && (
        <Suspense>
          <FileDialogs dialog={dialog} onClose={close} />
        </Suspense>
      )}
      {uploads.collision && (
        <Suspense>
          <CollisionDialog collision={uploads.collision} onDecide={uploads.decide} />
        </Suspense>
      )}
    </FilesProvider>
  )
}

function FolderContent() {
  const { t } = useTranslation('files')
  const { directory, entries, isTruncated } = useFiles()
  const [filter, setFilter] = useState('')
  const [searched, setSearched] = useState('')
  const [sort, setSort] = useState<Sort>({ by: 'name', isDescending: false })
  const shown = useMemo(() => filterAndSort(entries, filter, sort), [entries, filter, sort])
  const shownNames = useMemo(() => shown.map(({ name }) => name), [shown])
  const names = useMemo(() => entries.map(({ name }) => name), [entries])
  const selection = useSelection(shownNames, names)
  const rights = useFilePermissions()
  if (entries.length === 0)
    // The drop area says it to those who may upload.
    return rights.create ? null : <EmptyState icon={FolderOpen} title={t('empty')} />
  return (
    <>
      {isTruncated && (
        <Banner tone="warn" title={t('truncated')}>
          {t('truncated_text')}
        </Banner>
      )}
      <FilterField
        value={filter}
        onChange={setFilter}
        shown={shown.length}
        total={entries.length}
        onSearch={() => setSearched(filter.trim())}
      />
      {searched !== '' && (
        <Suspense fallback={<Skeleton rows={3} className="h-10" />}>
          <DeepSearch key={searched} directory={directory} text={searched} onClose={() => setSearched('')} />
        </Suspense>
      )}
      {shown.length === 0 ? (
        searched === '' && <EmptyState icon={SearchX} title={t('filter_none')} />
      ) : (
        <FileTable entries={shown} sort={sort} onSort={setSort} selection={selection} />
      )}
      {selection.names.size > 0 && (
        <Suspense>
          <SelectionBar selection={selection} />
        </Suspense>
      )}
    </>
  )
}

function MissingFolder() {
  const { t } = useTranslation('files')
  const { id } = useServer()
  return (
    <EmptyState icon={FolderX} title={t('gone')} text={t('gone_text')}>
      <Link to="/server/$server/files" params={{ server: id }} className={buttonStyle('primary')}>
        {t('to_root')}
      </Link>
    </EmptyState>
  )
}
