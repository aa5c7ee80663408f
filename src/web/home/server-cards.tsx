import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { CopyButton } from '../components/copy-button.tsx'
import { primaryAddress } from '../server/addresses.ts'
import { StateBadge } from '../server/state-badge.tsx'
import { ServerMenu } from './server-menu.tsx'
import { ServerUsage } from './server-usage.tsx'
import type { ListedServer } from './listed-server.ts'

/** Lists servers as cards that link to their console. */
export function ServerCards({ servers }: { servers: readonly ListedServer[] }) {
  const { t } = useTranslation('home')
  return (
    <ul aria-label={t('title')} className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
      {servers.map((listed) => (
        <ServerCard key={listed.server.uuid} listed={listed} />
      ))}
    </ul>
  )
}

function ServerCard({ listed }: { listed: ListedServer }) {
  const { t } = useTranslation('home')
  const { server, stats, outage } = listed
  const address = primaryAddress(server)
  return (
    <li className="relative flex min-w-0 flex-col gap-3 rounded-card border border-line bg-surface p-4 transition-colors hover:border-line-strong">
      <div className="flex items-start justify-between gap-2">
        <div className="min-w-0">
          <h2 className="truncate font-semibold">
            <ServerLink listed={listed} />
          </h2>
          <div className="mt-1">
            <StateBadge
              server={server}
              state={stats?.current_state ?? null}
              isUnreachable={outage !== null}
            />
          </div>
        </div>
        <div className="relative -mt-1 -mr-2">
          <ServerMenu listed={listed} />
        </div>
      </div>
      <ServerUsage listed={listed} />
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

/** The name of a server, as a link that covers its card or row. */
export const ServerLink = ({ listed: { server } }: { listed: ListedServer }) => (
  <Link
    to="/server/$server"
    params={{ server: server.identifier }}
    title={server.description || server.name}
    className="rounded-control outline-offset-4 after:absolute after:inset-0 after:rounded-card hover:underline"
  >
    {server.name}
  </Link>
)
