import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { File, Folder, RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { restoreFromTrash, type TrashItem } from '../../api/trash.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, IconButton } from '../../components/button.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Checkbox } from '../../components/switch.tsx'
import { toast } from '../../components/toast.tsx'
import { useFilePermissions } from '../files/files-context.tsx'
import { parentOf } from '../files/paths.ts'
import { useServer } from '../server-context.tsx'

const dayMs = 86_400_000

/** An item of the trash: its path, how long it is kept, and its actions. */
export function TrashRow({
  item,
  isSelected,
  onSelect,
  onPurge,
}: {
  item: TrashItem
  isSelected: boolean
  onSelect: (isSelected: boolean) => void
  onPurge: () => void
}) {
  const { t } = useTranslation('trash')
  const rights = useFilePermissions()
  const restore = useRestore(item)
  const Icon = item.is_file ? File : Folder
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3">
      {rights.remove && (
        <Checkbox
          label={t('files:select', { name: item.name })}
          hideLabel
          checked={isSelected}
          onChange={onSelect}
          className="items-center"
        />
      )}
      <Icon aria-hidden className="size-4.5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1 basis-40">
        <div className="flex flex-wrap items-center gap-x-2">
          <p className="min-w-0 text-sm font-medium wrap-anywhere">{item.name}</p>
          {!item.ready && <Badge tone="info">{t('under_way')}</Badge>}
        </div>
        <OriginalPath path={item.path} />
        <Times item={item} />
      </div>
      <div className="ms-auto flex items-center gap-1">
        {rights.remove && rights.create && (
          <Button
            icon={RotateCcw}
            busy={restore.isPending}
            disabled={!item.ready}
            onClick={() => restore.mutate()}
          >
            {t('restore')}
          </Button>
        )}
        {rights.remove && (
          <IconButton
            icon={Trash2}
            label={t('purge_item', { name: item.name })}
            disabled={!item.ready}
            onClick={onPurge}
          />
        )}
      </div>
      <RestoreError error={restore.error} path={item.path} />
    </li>
  )
}

function useRestore(item: TrashItem) {
  const { t } = useTranslation('trash')
  const { id } = useServer()
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => restoreFromTrash(id, item.id),
    onSuccess: () => toast(t('restored', { path: item.path })),
    onSettled: async (_, error) => {
      // The row stays, since it shows the error.
      if (asRequestError(error)?.status === 409) return
      await Promise.all([
        client.invalidateQueries({ queryKey: ['trash', id] }),
        client.invalidateQueries({ queryKey: ['files', id] }),
      ])
    },
  })
}

function OriginalPath({ path }: { path: string }) {
  const { t } = useTranslation('trash')
  const { id } = useServer()
  const directory = parentOf(path)
  return (
    <p className="text-xs text-muted wrap-anywhere">
      <span className="me-1">{t('was_in')}</span>
      <Link
        to="/server/$server/files"
        params={{ server: id }}
        search={{ directory }}
        className="underline underline-offset-2"
      >
        {directory}
      </Link>
    </p>
  )
}

function Times({ item }: { item: TrashItem }) {
  const { t } = useTranslation('trash')
  const [now] = useState(Date.now)
  const days = Math.floor((Date.parse(item.expires_at) - now) / dayMs)
  return (
    <p className="flex flex-wrap gap-x-2 text-xs text-muted tabular-nums">
      <span>
        {t('deleted')} <RelativeTime at={item.deleted_at} />
      </span>
      <span aria-hidden>·</span>
      <span className={days < 2 ? 'font-medium text-warn' : undefined}>
        {days > 0 ? t('expires', { count: days }) : t('expires_today')}
      </span>
    </p>
  )
}

/** Shows why an item was not restored. An existing file is never overwritten. */
function RestoreError({ error, path }: { error: unknown; path: string }) {
  const { t } = useTranslation('trash')
  const { id } = useServer()
  const requestError = asRequestError(error)
  if (!error) return null
  return (
    <div role="alert" className="w-full rounded-control bg-bad-soft px-3 py-2 text-sm text-bad">
      <p>{requestError?.message || t('not_restored')}</p>
      {requestError?.status === 409 && (
        <p className="mt-0.5">
          {t('exists_text')}{' '}
          <Link
            to="/server/$server/files"
            params={{ server: id }}
            search={{ directory: parentOf(path) }}
            className="underline underline-offset-2"
          >
            {t('look')}
          </Link>
        </p>
      )}
    </div>
  )
}
