import { Link } from '@tanstack/react-router'
import { EllipsisVertical, FolderOpen, Play, RotateCw, Skull, Square, SquareTerminal } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../components/button.tsx'
import { Menu, MenuItem, MenuLink, MenuSeparator } from '../components/menu.tsx'
import { hasEffect, KillDialog, usePower } from '../server/power.tsx'
import { isBlocked } from '../server/server-state.ts'
import type { ListedServer } from './listed-server.ts'

const signals = [
  { signal: 'start', icon: Play },
  { signal: 'restart', icon: RotateCw },
  { signal: 'stop', icon: Square },
] as const

/** Menu with the power actions of a server; the panel refuses those that are not allowed. */
export function ServerMenu({ listed: { server, stats, outage } }: { listed: ListedServer }) {
  const { t } = useTranslation('server')
  const [killing, setKilling] = useState(false)
  const id = server.identifier
  const power = usePower(id)
  const state = stats?.current_state ?? null
  const trigger = (
    <IconButton
      icon={EllipsisVertical}
      busy={power.isPending}
      label={t('home:menu', { server: server.name })}
    />
  )
  return (
    <>
      <Menu trigger={trigger}>
        {!isBlocked(server) && (
          <>
            {signals.map(({ signal, icon }) => (
              <MenuItem
                key={signal}
                icon={icon}
                disabled={outage !== null || !hasEffect(signal, state)}
                onSelect={() => power.mutate(signal)}
              >
                {t(`power.${signal}`)}
              </MenuItem>
            ))}
            <MenuItem
              icon={Skull}
              danger
              disabled={outage !== null || !hasEffect('kill', state)}
              onSelect={() => setKilling(true)}
            >
              {t('power.kill')}
            </MenuItem>
            <MenuSeparator />
          </>
        )}
        <MenuLink>
          <Link to="/server/$server" params={{ server: id }}>
            <SquareTerminal aria-hidden className="size-4" /> {t('nav.console')}
          </Link>
        </MenuLink>
        <MenuLink>
          <Link to={'/server/$server/files' as '/server/$server'} params={{ server: id }}>
            <FolderOpen aria-hidden className="size-4" /> {t('nav.files')}
          </Link>
        </MenuLink>
      </Menu>
      <KillDialog server={id} open={killing} onOpenChange={setKilling} />
    </>
  )
}
