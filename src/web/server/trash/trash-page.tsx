import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { FolderOpen, Trash2, TrashIcon } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { type TrashPage as Page, trashQuery } from '../../api/trash.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { Button, buttonStyle } from '../../components/button.tsx'
import { PageHeader, RowList } from '../../components/card.tsx'
import { Pager } from '../../components/pager.tsx'
import { EmptyState, Loaded } from '../../components/states.tsx'
import { Checkbox } from '../../components/switch.tsx'
import { useFilePermissions } from '../files/files-context.tsx'
import { useServer } from '../server-context.tsx'
import { PurgeDialog, type Purge } from './purge-dialog.tsx'
import { TrashRow } from './trash-row.tsx'

/** Lists the trash, to restore items or delete them permanently. */
export function TrashPage() {
  const { t } = useTranslation('trash')
  const { id, server, can } = useServer()
  const rights = useFilePermissions()
  const [page, setPage] = useState(1)
  const [purge, setPurge] = useState<Purge | null>(null)
  const trash = useQuery(trashQuery(id, page))
  const isDisabled = can('file.read') && asRequestError(trash.error)?.status === 403
  const total = trash.data?.meta.total ?? 0
  usePageTitle(t('title'), server.name)
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <PageHeader
        title={t('title')}
        text={t('text')}
        actions={
          <>
            <Link to="/server/$server/files" params={{ server: id }} className={buttonStyle('quiet')}>
              <FolderOpen aria-hidden className="size-4" /> {t('files:title')}
            </Link>
            {rights.remove && total > 0 && (
              <Button icon={Trash2} onClick={() => setPurge({ kind: 'all', count: total })}>
                {t('purge_all')}
              </Button>
            )}
          </>
        }
      />
      {isDisabled ? (
        <EmptyState icon={TrashIcon} title={t('off')} text={t('off_text')} />
      ) : (
        <Loaded query={trash}>
          {(found) => <TrashList key={page} page={found} onPage={setPage} onPurge={setPurge} />}
        </Loaded>
      )}
      {purge && <PurgeDialog purge={purge} onClose={() => setPurge(null)} onPurged={() => setPage(1)} />}
    </div>
  )
}

function TrashList({
  page,
  onPage,
  onPurge,
}: {
  page: Page
  onPage: (page: number) => void
  onPurge: (purge: Purge) => void
}) {
  const { t } = useTranslation('trash')
  const rights = useFilePermissions()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const items = page.data
  const chosen = items.filter(({ id }) => selected.has(id))
  if (items.length === 0) return <EmptyState icon={TrashIcon} title={t('empty')} text={t('empty_text')} />
  const select = (id: string, isSelected: boolean) => {
    const next = new Set(selected)
    if (isSelected) next.add(id)
    else next.delete(id)
    setSelected(next)
  }
  return (
    <>
      {rights.remove && (
        <div className="flex min-h-9 flex-wrap items-center gap-3 px-4">
          <Checkbox
            label={t('files:select_all')}
            checked={chosen.length === 0 ? false : chosen.length === items.length || 'indeterminate'}
            onChange={(isSelected) => setSelected(new Set(isSelected ? items.map(({ id }) => id) : []))}
            className="me-auto items-center"
          />
          {chosen.length > 0 && (
            <Button variant="danger" icon={Trash2} onClick={() => onPurge({ kind: 'some', items: chosen })}>
              {t('purge_some', { count: chosen.length })}
            </Button>
          )}
        </div>
      )}
      <RowList label={t('title')}>
        {items.map((item) => (
          <TrashRow
            key={item.id}
            item={item}
            isSelected={selected.has(item.id)}
            onSelect={(isSelected) => select(item.id, isSelected)}
            onPurge={() => onPurge({ kind: 'some', items: [item] })}
          />
        ))}
      </RowList>
      <Pager
        pagination={{
          total: page.meta.total,
          count: items.length,
          per_page: items.length,
          current_page: page.meta.current_page,
          total_pages: page.meta.last_page,
          links: {},
        }}
        onPage={onPage}
      />
    </>
  )
}
