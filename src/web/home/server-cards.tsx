import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { CopyButton } from '../components/copy-button.tsx'
import { primaryAddress } from '../server/addresses.ts'
import { StateBadge } from '../server/state-badge.tsx'
import { ServerMenu } from './server-menu.tsx'
import { ServerUse } from './server-use.tsx'
import type { ShownServer } from './shown-server.ts'

/** Servers as cards, each of which leads to its console. */
export function ServerCards({ servers }: { servers: readonly ShownServer[] }) {
  const { t } = useTranslation('home')
  return (
    <ul aria-label={t('title')} className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
      {servers.map((shown) => (
        <ServerCard key={shown.server.uuid} shown={shown} />
      ))}
    </ul>
  )
}

function ServerCard({ shown }: { shown: ShownServer }) {
  const { t } = useTranslation('home')
  const { server, stats, silence } = shown
  const address = primaryAddress(server)
  return (
    <li className="relative flex min-w-0 flex-col gap-3 rounded-card border border-line bg-surface p-4 transition-colors hover:border-line-strong">
      <div className="flex items-start justify-between gap-2">
        <div className="min-w-0">
          <h2 className="truncate font-semibold">
            <ServerLink shown={shown} />
          </h2>
          <div className="mt-1">
            <StateBadge
              server={server}
              state={stats?.current_state ?? null}
              isUnreachable={silence !== null}
            />
          </div>
        </div>
        <div className="relative -mt-1 -mr-2">
          <ServerMenu shown={shown} />
        </div>
      </div>
      <ServerUse shown={shown} />
      <div className="flex min-h-9 items-center justify-between gap-2 border-t border-line pt-2 text-sm text-muted">
        <span className="private truncate font-mono text-xs">{address ?? t('strings:word.none')}</span>
        {address && (
          <span className="relative -my-1 -mr-2">
            <CopyButton text={address} label={t('copy_address', { server: server.name })} />
          </span>
        )}
      </div>
    </li>
  )
}

/** The name of a server; the whole card or row can be pressed. */
export const ServerLink = ({ shown: { server } }: { shown: ShownServer }) => (
  <Link
    to="/server/$server"
    params={{ server: server.identifier }}
    title={server.description || server.name}
    className="rounded-control outline-offset-4 after:absolute after:inset-0 after:rounded-card hover:underline"
  >
    {server.name}
  </Link>
)
