import { Play, RotateCw, Skull, Square } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import type { PowerSignal } from '../api/servers.ts'
import { Button, IconButton } from '../components/button.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { primaryAddress } from './addresses.ts'
import { usePanelReachable } from '../offline/use-panel-reachable.ts'
import { hasEffect, KillDialog, signalPermissions, usePower } from './power.tsx'
import { useLive, useServer } from './server-context.tsx'
import { IdentityItems, ServerTile } from './server-identity.tsx'
import { useServerLive } from './server-live.ts'
import { StateBadge } from './state-badge.tsx'
import { isBlocked } from './server-state.ts'

/** The game, name, address and state of the server, with its power buttons. */
export function ServerHeader() {
  const { t } = useTranslation('server')
  const { server } = useServer()
  const { state, isUnreachable } = useServerLive()
  // Without the panel nothing is known of the node.
  const isPanelReachable = usePanelReachable()
  const { isPanelUnreachable } = useLive()
  const address = primaryAddress(server)
  return (
    <section aria-label={server.name} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-3">
      <div className="flex min-w-0 items-center gap-3">
        <ServerTile />
        <div className="min-w-0">
          <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
            {/* On a phone the bar above has the name. */}
            <p className="hidden min-w-0 text-xl font-semibold wrap-anywhere sm:block">{server.name}</p>
            <span role="status">
              <StateBadge
                server={server}
                state={state}
                isUnreachable={isUnreachable && isPanelReachable && !isPanelUnreachable}
              />
            </span>
          </div>
          <ul className="flex flex-wrap items-center gap-x-4 text-sm text-muted">
            {address && (
              <li className="flex min-w-0 items-center gap-1">
                <span className="private font-mono wrap-anywhere">{address}</span>
                <CopyButton text={address} label={t('address.copy')} />
              </li>
            )}
            <IdentityItems />
          </ul>
        </div>
      </div>
      <PowerButtons state={state} />
    </section>
  )
}

const signals = [
  { signal: 'start', icon: Play },
  { signal: 'restart', icon: RotateCw },
  { signal: 'stop', icon: Square },
] as const

function PowerButtons({ state }: { state: string | null }) {
  const { t } = useTranslation('server')
  const { id, server, can } = useServer()
  const [killing, setKilling] = useState(false)
  const power = usePower(id)
  if (isBlocked(server)) return null
  const isAvailable = (signal: PowerSignal) => state !== null && hasEffect(signal, state)
  return (
    <div role="group" aria-label={t('power.label')} className="flex flex-wrap gap-2">
      {signals
        .filter(({ signal }) => can(signalPermissions[signal]))
        .map(({ signal, icon }) => (
          <Button
            key={signal}
            // A server that runs is not to be started: then nothing draws the eye to it.
            variant={signal === 'start' && isAvailable(signal) ? 'primary' : 'plain'}
            icon={icon}
            disabled={!isAvailable(signal)}
            busy={power.isPending && power.variables === signal}
            onClick={() => power.mutate(signal)}
          >
            {t(`power.${signal}`)}
          </Button>
        ))}
      {can(signalPermissions.kill) && (
        <IconButton
          icon={Skull}
          variant="danger-plain"
          label={t('power.kill')}
          disabled={!isAvailable('kill')}
          onClick={() => setKilling(true)}
        />
      )}
      <KillDialog server={id} open={killing} onOpenChange={setKilling} />
    </div>
  )
}
