import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { purgeFromTrash, type TrashItem, trashPage } from '../../api/trash.ts'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'

export type Purge = { kind: 'some'; items: readonly TrashItem[] } | { kind: 'all'; count: number }

/** Asks for confirmation, then permanently deletes items of the trash and shows the progress. */
export function PurgeDialog({
  purge,
  onClose,
  onPurged,
}: {
  purge: Purge
  onClose: () => void
  onPurged: () => void
}) {
  const { t } = useTranslation('trash')
  const { id } = useServer()
  const client = useQueryClient()
  const remove = useMutation({
    mutationFn: () => (purge.kind === 'all' ? purgeAll(id) : purgeItems(id, purge.items)),
    onSuccess: (count) => {
      toast(t('purged', { count }))
      onPurged()
      onClose()
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['trash', id] }),
  })
  const count = purge.kind === 'all' ? purge.count : purge.items.length
  const [first] = purge.kind === 'some' ? purge.items : []
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('purge_title')}
      text={count === 1 && first ? t('purge_named', { path: first.path }) : t('purge_text', { count })}
      action={t('purge')}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
    />
  )
}

/** Returns how many items are deleted, including those that another user has deleted meanwhile. */
async function purgeItems(server: string, items: readonly TrashItem[]): Promise<number> {
  for (const { id } of items) {
    // oxlint-disable-next-line no-await-in-loop -- each is a call to the node
    await purgeFromTrash(server, id).catch((error: unknown) => {
      if (asRequestError(error)?.status !== 404) throw error
    })
  }
  return items.length
}

/** Deletes page by page while there are items that can be deleted. */
async function purgeAll(server: string): Promise<number> {
  const items = (await trashPage(server, 1)).data.filter(({ ready }) => ready)
  if (items.length === 0) return 0
  return (await purgeItems(server, items)) + (await purgeAll(server))
}
