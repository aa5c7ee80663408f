import { ArchiveRestore, Download, Ellipsis, Lock, LockOpen, NotebookPen, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { type Backup, hasFailed, isRunning } from '../../api/backups.ts'
import { formatBytes } from '../../app/formats.ts'
import { Badge } from '../../components/badge.tsx'
import { IconButton } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../components/menu.tsx'
import { Progress } from '../../components/meter.tsx'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'
import { BackupNotes } from './backup-notes.tsx'
import { DeleteBackup, RestoreBackup, useBackupDownload, useBackupLock } from './backup-changes.tsx'

/** A backup with its state, size and actions. */
export function BackupRow({ backup }: { backup: Backup }) {
  const { t } = useTranslation('backups')
  return (
    <li className="flex flex-col gap-2 p-4">
      <div className="flex items-start justify-between gap-3">
        <div className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1">
          <h2 className="min-w-0 font-medium wrap-anywhere">{backup.name}</h2>
          <BackupState backup={backup} />
          {backup.is_locked && (
            <Badge>
              <Lock aria-hidden className="size-3" />
              {t('locked')}
            </Badge>
          )}
        </div>
        <BackupActions backup={backup} />
      </div>
      {backup.notes && <p className="text-sm wrap-anywhere whitespace-pre-line">{backup.notes}</p>}
      {isRunning(backup) && (
        <>
          <Progress label={t('running')} ratio={null} />
          <p className="text-sm text-muted">{t('running_text')}</p>
        </>
      )}
      {hasFailed(backup) && <p className="text-sm text-bad">{t('failed_text')}</p>}
      <BackupDetails backup={backup} />
    </li>
  )
}

function BackupState({ backup }: { backup: Backup }) {
  const { t } = useTranslation('backups')
  if (isRunning(backup)) return <Badge tone="info">{t('running')}</Badge>
  return hasFailed(backup) ? <Badge tone="bad">{t('failed')}</Badge> : <Badge tone="good">{t('done')}</Badge>
}

function BackupDetails({ backup }: { backup: Backup }) {
  const { t } = useTranslation('backups')
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-1.5 text-sm md:flex md:flex-wrap md:items-baseline">
      {backup.is_successful && (
        <Detail name={t('strings:word.size')}>
          <span className="tabular-nums">{formatBytes(backup.bytes)}</span>
        </Detail>
      )}
      <Detail name={t('created_at')}>
        <RelativeTime at={backup.created_at} />
      </Detail>
      {backup.completed_at && (
        <Detail name={t('completed_at')}>
          <RelativeTime at={backup.completed_at} />
        </Detail>
      )}
      {backup.checksum && (
        <Detail name={t('checksum')} wide>
          <span className="flex min-w-0 items-center gap-1">
            <code className="min-w-0 truncate font-mono text-xs md:max-w-48">{backup.checksum}</code>
            <span className="-my-2">
              <CopyButton text={backup.checksum} label={t('checksum_copy', { name: backup.name })} />
            </span>
          </span>
        </Detail>
      )}
      {backup.ignored_files.length > 0 && (
        <Detail name={t('left_out')} wide>
          <code className="block truncate font-mono text-xs md:max-w-64">
            {backup.ignored_files.join(' ')}
          </code>
        </Detail>
      )}
    </dl>
  )
}

const Detail = ({ name, wide, children }: { name: string; wide?: boolean; children: ReactNode }) => (
  <div
    className={
      wide ? 'col-span-2 min-w-0 md:flex md:items-baseline md:gap-1.5' : 'min-w-0 md:flex md:gap-1.5'
    }
  >
    <dt className="text-muted">{name}</dt>
    <dd className="min-w-0">{children}</dd>
  </div>
)

function BackupActions({ backup }: { backup: Backup }) {
  const { t } = useTranslation('backups')
  const { can, server } = useServer()
  const [openDialog, setOpenDialog] = useState<'restore' | 'notes' | 'delete' | null>(null)
  const lock = useBackupLock(backup)
  const download = useBackupDownload(backup)
  const blocked = isBlocked(server)
  const isGood = backup.is_successful
  const mayRestore = can('backup.restore') && isGood
  const mayDelete = can('backup.delete')
  const mayNote = can('backup.create')
  return (
    <div className="-m-1 flex shrink-0 gap-1">
      {can('backup.download') && isGood && (
        <IconButton
          icon={Download}
          label={t('download_of', { name: backup.name })}
          busy={download.isPending}
          disabled={blocked}
          onClick={() => download.mutate()}
        />
      )}
      {(mayRestore || mayNote || mayDelete) && (
        <Menu
          trigger={
            <IconButton icon={Ellipsis} label={t('actions', { name: backup.name })} disabled={blocked} />
          }
        >
          {mayRestore && (
            <MenuItem icon={ArchiveRestore} onSelect={() => setOpenDialog('restore')}>
              {t('restore')}
            </MenuItem>
          )}
          {mayNote && (
            <MenuItem icon={NotebookPen} onSelect={() => setOpenDialog('notes')}>
              {t('notes_edit')}
            </MenuItem>
          )}
          {mayDelete && (
            <MenuItem
              icon={backup.is_locked ? LockOpen : Lock}
              disabled={lock.isPending}
              onSelect={() => lock.mutate()}
            >
              {backup.is_locked ? t('unlock') : t('lock')}
            </MenuItem>
          )}
          {mayDelete && (
            <>
              <MenuSeparator />
              <MenuItem
                icon={Trash2}
                danger
                disabled={backup.is_locked && isGood}
                onSelect={() => setOpenDialog('delete')}
              >
                {t('strings:action.delete')}
              </MenuItem>
            </>
          )}
        </Menu>
      )}
      {openDialog === 'restore' && <RestoreBackup backup={backup} onClose={() => setOpenDialog(null)} />}
      {openDialog === 'notes' && <BackupNotes backup={backup} onClose={() => setOpenDialog(null)} />}
      {openDialog === 'delete' && <DeleteBackup backup={backup} onClose={() => setOpenDialog(null)} />}
    </div>
  )
}
