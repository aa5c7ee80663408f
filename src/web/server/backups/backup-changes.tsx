import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import {
  type Backup,
  type Backups,
  backupAddress,
  backupsKey,
  deleteBackup,
  isRunning,
  restoreBackup,
  toggleBackupLock,
} from '../../api/backups.ts'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Checkbox } from '../../components/switch.tsx'
import { toast, toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { BackupRefusal } from './refusal.tsx'

type Props = { backup: Backup; onClose: () => void }

/** Locks or unlocks; shown at once, and taken back when the panel refuses. */
export function useBackupLock(backup: Backup) {
  const { t } = useTranslation('backups')
  const { id } = useServer()
  const queries = useQueryClient()
  const show = (isLocked: boolean) =>
    queries.setQueryData<Backups>(
      backupsKey(id),
      (shown) =>
        shown && {
          ...shown,
          rows: shown.rows.map((row) => (row.uuid === backup.uuid ? { ...row, is_locked: isLocked } : row)),
        },
    )
  return useMutation({
    mutationFn: () => toggleBackupLock(id, backup.uuid),
    onMutate: async () => {
      await queries.cancelQueries({ queryKey: backupsKey(id) })
      show(!backup.is_locked)
    },
    onSuccess: ({ attributes }) => show(attributes.is_locked),
    onError: (error) => {
      show(backup.is_locked)
      toastError(error, t('lock_failed'))
    },
    onSettled: () => queries.invalidateQueries({ queryKey: backupsKey(id) }),
  })
}

/** Fetches the archive from the node or the object store. */
export function useBackupDownload(backup: Backup) {
  const { t } = useTranslation('backups')
  const { id } = useServer()
  return useMutation({
    mutationFn: () => backupAddress(id, backup.uuid),
    onSuccess: (address) => window.open(address, '_blank', 'noopener,noreferrer'),
    onError: (error) => toastError(error, t('download_failed')),
  })
}

/** Asks before the server is overwritten, and has it restored. */
export function RestoreBackup({ backup, onClose }: Props) {
  const { t } = useTranslation('backups')
  const { id, server } = useServer()
  const queries = useQueryClient()
  const [truncate, setTruncate] = useState(false)
  const restore = useMutation({
    mutationFn: () => restoreBackup(id, backup.uuid, truncate),
    onSuccess: () => {
      toast(t('restore_started'))
      onClose()
    },
    // The server alone: what belongs to it is refused until it is restored.
    onSettled: () =>
      queries.invalidateQueries({ queryKey: ['server'], predicate: ({ queryKey }) => queryKey.length === 2 }),
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('restore_title', { name: backup.name })}
      text={t('restore_text')}
      action={t('restore')}
      typed={server.name}
      busy={restore.isPending}
      onConfirm={() => restore.mutate()}
    >
      <Checkbox
        label={t('truncate')}
        hint={t('truncate_hint')}
        checked={truncate}
        onChange={setTruncate}
        className="text-ink"
      />
      <BackupRefusal error={restore.error} askedAt={restore.submittedAt} />
    </ConfirmDialog>
  )
}

/** Asks before a backup is gone. */
export function DeleteBackup({ backup, onClose }: Props) {
  const { t } = useTranslation('backups')
  const { id } = useServer()
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => deleteBackup(id, backup.uuid),
    onSuccess: () => {
      toast(t('deleted'))
      onClose()
    },
    onSettled: () => queries.invalidateQueries({ queryKey: backupsKey(id) }),
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('delete_title', { name: backup.name })}
      text={isRunning(backup) ? t('delete_running_text') : t('delete_text')}
      action={t('strings:action.delete')}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
    />
  )
}
