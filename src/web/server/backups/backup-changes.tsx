import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import {
  type Backup,
  type Backups,
  backupDownloadUrl,
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
import { BackupError } from './backup-error.tsx'
import { RestoreLosses } from './restore-losses.tsx'

type Props = { backup: Backup; onClose: () => void }

/** Locks or unlocks a backup optimistically. */
export function useBackupLock(backup: Backup) {
  const { t } = useTranslation('backups')
  const { id } = useServer()
  const queries = useQueryClient()
  const setLocked = (isLocked: boolean) =>
    queries.setQueryData<Backups>(
      backupsKey(id),
      (backups) =>
        backups && {
          ...backups,
          rows: backups.rows.map((row) => (row.uuid === backup.uuid ? { ...row, is_locked: isLocked } : row)),
        },
    )
  return useMutation({
    mutationFn: () => toggleBackupLock(id, backup.uuid),
    onMutate: async () => {
      await queries.cancelQueries({ queryKey: backupsKey(id) })
      setLocked(!backup.is_locked)
    },
    onSuccess: ({ is_locked }) => setLocked(is_locked),
    onError: (error) => {
      setLocked(backup.is_locked)
      toastError(error, t('lock_failed'))
    },
    onSettled: () => queries.invalidateQueries({ queryKey: backupsKey(id) }),
  })
}

/** Opens the download link of a backup. */
export function useBackupDownload(backup: Backup) {
  const { t } = useTranslation('backups')
  const { id } = useServer()
  return useMutation({
    mutationFn: () => backupDownloadUrl(id, backup.uuid),
    onSuccess: (url) => window.open(url, '_blank', 'noopener,noreferrer'),
    onError: (error) => toastError(error, t('download_failed')),
  })
}

/** Asks for confirmation, then restores the server from a backup. */
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
    // Only the server itself: its other routes answer 409 until it is restored.
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
      confirmationText={server.name}
      busy={restore.isPending}
      onConfirm={() => restore.mutate()}
    >
      <RestoreLosses backup={backup} truncate={truncate} />
      <Checkbox
        label={t('truncate')}
        hint={t('truncate_hint')}
        checked={truncate}
        onChange={setTruncate}
        className="text-ink"
      />
      <BackupError error={restore.error} submittedAt={restore.submittedAt} />
    </ConfirmDialog>
  )
}

/** Asks for confirmation, then deletes a backup. */
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
