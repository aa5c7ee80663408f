import { useMutation } from '@tanstack/react-query'
import {
  ArrowRightLeft,
  Ban,
  ChevronDown,
  CirclePlay,
  HardDriveDownload,
  Power,
  Skull,
  Square,
  Trash2,
} from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { refetchAdmin } from '../../api/admin.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../components/menu.tsx'
import { useAdminNavigate } from '../admin-link.tsx'
import { Picker } from '../form/picker.tsx'
import type { Server } from '../resources.ts'
import { transferTargets } from '../servers/placement.tsx'
import { type BulkAction, startBulk, textOfAction } from './bulk-actions.ts'

const groups = [
  [
    { action: 'power', signal: 'start', icon: CirclePlay },
    { action: 'power', signal: 'stop', icon: Square },
    { action: 'power', signal: 'restart', icon: Power },
    { action: 'power', signal: 'kill', icon: Skull },
  ],
  [
    { action: 'suspend', icon: Ban },
    { action: 'unsuspend', icon: CirclePlay },
  ],
  [
    { action: 'reinstall', icon: HardDriveDownload },
    { action: 'transfer', icon: ArrowRightLeft },
  ],
  [
    { action: 'delete', force: false, icon: Trash2 },
    { action: 'delete', force: true, icon: Trash2 },
  ],
] as const

const textName = (action: BulkAction) =>
  textOfAction({ action: action.action, signal: action.signal ?? null, force: action.force ?? null })

/** What can be done with the chosen servers. Each action asks first, and leads to its progress. */
export function BulkMenu({ servers }: { servers: readonly Server[] }) {
  const { t } = useTranslation('admin')
  const [asked, setAsked] = useState<BulkAction | null>(null)
  return (
    <>
      <Menu
        trigger={
          <Button variant="primary" icon={ChevronDown}>
            {t('bulk.actions')}
          </Button>
        }
      >
        {groups.map((group, at) => [
          at > 0 && <MenuSeparator key={at} />,
          ...group.map(({ icon, ...action }) => (
            <MenuItem
              key={textName(action)}
              icon={icon}
              danger={action.action === 'delete'}
              onSelect={() => setAsked(action)}
            >
              {t(`bulk.${textName(action)}`)}
            </MenuItem>
          )),
        ])}
      </Menu>
      {asked && <BulkDialog action={asked} servers={servers} onClose={() => setAsked(null)} />}
    </>
  )
}

/** Servers that are named in the question; the others are counted. */
const maxNamed = 8

function BulkDialog({
  action,
  servers,
  onClose,
}: {
  action: BulkAction
  servers: readonly Server[]
  onClose: () => void
}) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  const [node, setNode] = useState('')
  const name = textName(action)
  const isTransfer = action.action === 'transfer'
  const starting = useMutation({
    mutationFn: () =>
      startBulk(
        isTransfer ? { ...action, node: Number(node) } : action,
        servers.map(({ id }) => id),
      ),
    onSuccess: ({ attributes }) => {
      onClose()
      navigate(`bulk-operations/${attributes.id}`)
      void refetchAdmin()
    },
  })
  const isTyped = action.action === 'delete' || action.action === 'reinstall'
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={`${t(`bulk.${name}`)}: ${t('strings:amount.servers', { count: servers.length })}`}
      text={<p>{t(`bulk.${name}_text`)}</p>}
      action={t(`bulk.${name}`)}
      danger={isTyped || action.signal === 'kill' || action.action === 'suspend'}
      {...(isTyped ? { confirmationText: String(servers.length) } : {})}
      busy={starting.isPending}
      error={starting.error}
      onConfirm={() => starting.mutate()}
    >
      <ul aria-label={t('nav.servers')} className="rounded-control bg-raised px-3 py-2 text-sm">
        {servers.slice(0, maxNamed).map((server) => (
          <li key={server.id} className="truncate">
            {server.name}
          </li>
        ))}
        {servers.length > maxNamed && (
          <li className="text-muted">{t('bulk.more', { count: servers.length - maxNamed })}</li>
        )}
      </ul>
      {isTransfer && (
        <Picker
          label={t('servers.to')}
          hint={t('bulk.transfer_hint')}
          source={transferTargets(servers)}
          value={node}
          onChange={setNode}
          isRequired
        />
      )}
    </ConfirmDialog>
  )
}
