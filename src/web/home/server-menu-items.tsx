import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { FolderOpen, Play, RotateCw, Skull, Square, SquareTerminal } from 'lucide-react'
import { useTranslation } from '../app/use-translation.ts'
import { foldersQuery, usePlacement } from '../api/server-list.ts'
import type { PowerSignal } from '../api/servers.ts'
import { MenuChoices, MenuItem, MenuLink, MenuSeparator } from '../components/menu.tsx'
import { hasEffect, signalPermissions } from '../server/power.tsx'
import { isBlocked } from '../server/server-state.ts'
import { can, type ListedServer } from './listed-server.ts'

const signals = [
  { signal: 'start', icon: Play },
  { signal: 'restart', icon: RotateCw },
  { signal: 'stop', icon: Square },
  { signal: 'kill', icon: Skull },
] as const

/** What the user may do on a server, as items of its menu. */
export function ServerMenuItems({
  listed,
  onSignal,
}: {
  listed: ListedServer
  onSignal: (signal: PowerSignal) => void
}) {
  const { t } = useTranslation('server')
  const { server, state, outage } = listed
  const id = server.identifier
  const allowed = isBlocked(server)
    ? []
    : signals.filter(({ signal }) => can(server, signalPermissions[signal]))
  return (
    <>
      {allowed.map(({ signal, icon }) => (
        <MenuItem
          key={signal}
          icon={icon}
          danger={signal === 'kill'}
          disabled={outage !== null || !hasEffect(signal, state)}
          onSelect={() => onSignal(signal)}
        >
          {t(`power.${signal}`)}
        </MenuItem>
      ))}
      {allowed.length > 0 && <MenuSeparator />}
      <MenuLink>
        <Link to="/server/$server" params={{ server: id }}>
          <SquareTerminal aria-hidden className="size-4" /> {t('nav.console')}
        </Link>
      </MenuLink>
      {can(server, 'file.read') && (
        <MenuLink>
          <Link to={'/server/$server/files' as '/server/$server'} params={{ server: id }}>
            <FolderOpen aria-hidden className="size-4" /> {t('nav.files')}
          </Link>
        </MenuLink>
      )}
      <FolderChoices listed={listed} />
    </>
  )
}

/** The folders into which the server can be put; nothing while there is none. */
function FolderChoices({ listed: { server } }: { listed: ListedServer }) {
  const { t } = useTranslation('home')
  const { data: folders = [] } = useQuery(foldersQuery)
  const placement = usePlacement()
  if (folders.length === 0) return null
  return (
    <>
      <MenuSeparator />
      <MenuChoices
        label={t('place.move')}
        value={String(server.folder ?? '')}
        onChange={(folder) =>
          placement.mutate({ servers: [server.identifier], folder: folder === '' ? null : Number(folder) })
        }
        choices={[['', t('place.no_folder')], ...folders.map(({ id, name }) => [String(id), name] as const)]}
      />
    </>
  )
}
