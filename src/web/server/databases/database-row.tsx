import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Ellipsis, KeyRound, Plug, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { type Database, databasesKey, deleteDatabase, rotateDatabasePassword } from '../../api/databases.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Menu, MenuItem } from '../../components/menu.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'
import { hostOf } from './addresses.ts'

type Props = { database: Database; onDetails: (database: Database) => void }

/** A database with its address and actions. */
export function DatabaseRow({ database, onDetails }: Props) {
  const { t } = useTranslation('databases')
  return (
    <li className="grid items-start gap-x-6 gap-y-3 p-4 md:grid-cols-[minmax(0,1fr)_auto]">
      <div className="min-w-0">
        <h2 className="font-mono text-sm font-medium wrap-anywhere">{database.name}</h2>
        <dl className="mt-1.5 grid grid-cols-2 gap-x-6 gap-y-1.5 text-sm md:flex md:flex-wrap">
          <Detail name={t('host')}>
            <PrivateText text={hostOf(database)} />
          </Detail>
          <Detail name={t('strings:word.username')}>{database.username}</Detail>
          <Detail name={t('connections_from')}>
            <PrivateText text={database.connections_from} />
          </Detail>
        </dl>
      </div>
      <div className="flex items-center gap-2">
        <Button
          icon={Plug}
          aria-label={t('details_of', { name: database.name })}
          onClick={() => onDetails(database)}
        >
          {t('details')}
        </Button>
        <DatabaseMenu database={database} onDetails={onDetails} />
      </div>
    </li>
  )
}

const Detail = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="min-w-0">
    <dt className="text-muted">{name}</dt>
    <dd className="font-mono text-xs leading-5 wrap-anywhere">{children}</dd>
  </div>
)

function DatabaseMenu({ database, onDetails }: Props) {
  const { t } = useTranslation('databases')
  const { server, can } = useServer()
  const [openDialog, setOpenDialog] = useState<'rotate' | 'delete' | null>(null)
  const close = () => setOpenDialog(null)
  if (!can('database.update') && !can('database.delete')) return null
  return (
    <>
      <Menu
        trigger={
          <IconButton
            icon={Ellipsis}
            label={t('actions', { name: database.name })}
            disabled={isBlocked(server)}
          />
        }
      >
        {can('database.update') && (
          <MenuItem icon={KeyRound} onSelect={() => setOpenDialog('rotate')}>
            {t('rotate')}
          </MenuItem>
        )}
        {can('database.delete') && (
          <MenuItem icon={Trash2} danger onSelect={() => setOpenDialog('delete')}>
            {t('strings:action.delete')}
          </MenuItem>
        )}
      </Menu>
      {openDialog === 'rotate' && (
        <RotatePassword database={database} onDetails={onDetails} onClose={close} />
      )}
      {openDialog === 'delete' && <DeleteDatabase database={database} onClose={close} />}
    </>
  )
}

function RotatePassword({ database, onDetails, onClose }: Props & { onClose: () => void }) {
  const { t } = useTranslation('databases')
  const { id, can } = useServer()
  const rotate = useMutation({
    mutationFn: () => rotateDatabasePassword(id, database.id),
    onSuccess: (rotated) => {
      toast(t('rotated'))
      onClose()
      if (can('database.view_password')) onDetails(rotated)
    },
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('rotate_title', { name: database.name })}
      text={t('rotate_text')}
      action={t('rotate')}
      busy={rotate.isPending}
      error={rotate.error}
      onConfirm={() => rotate.mutate()}
    />
  )
}

function DeleteDatabase({ database, onClose }: { database: Database; onClose: () => void }) {
  const { t } = useTranslation('databases')
  const { id } = useServer()
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => deleteDatabase(id, database.id),
    onSuccess: () => {
      toast(t('deleted'))
      onClose()
    },
    onSettled: () => queries.invalidateQueries({ queryKey: databasesKey(id) }),
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('delete_title', { name: database.name })}
      text={t('delete_text')}
      action={t('strings:action.delete')}
      confirmationText={database.name}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
    />
  )
}
