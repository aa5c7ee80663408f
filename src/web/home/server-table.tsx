import { useTranslation } from 'react-i18next'
import { CopyButton } from '../components/copy-button.tsx'
import { primaryAddress } from '../server/addresses.ts'
import { StateBadge } from '../server/state-badge.tsx'
import { ServerLink } from './server-cards.tsx'
import { ServerMenu } from './server-menu.tsx'
import { usageOf, useUnavailableReason } from './server-usage.tsx'
import type { ListedServer } from './listed-server.ts'

const cell = 'px-3 py-2'

/** Lists servers as a table. */
export function ServerTable({ servers }: { servers: readonly ListedServer[] }) {
  const { t } = useTranslation('home')
  const heads = [
    t('strings:word.name'),
    t('strings:word.status'),
    t('strings:word.address'),
    t('strings:resource.cpu'),
    t('strings:resource.memory'),
    t('strings:resource.disk'),
  ]
  return (
    <div className="overflow-x-auto rounded-card border border-line bg-surface">
      <table className="w-full text-left text-sm">
        <caption className="sr-only">{t('title')}</caption>
        <thead className="border-b border-line text-xs text-muted">
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col" className={`${cell} font-medium`}>
                {head}
              </th>
            ))}
            <th scope="col" className={cell}>
              <span className="sr-only">{t('actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {servers.map((listed) => (
            <ServerRow key={listed.server.uuid} listed={listed} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ServerRow({ listed }: { listed: ListedServer }) {
  const { t } = useTranslation('home')
  const { server, stats, outage } = listed
  const address = primaryAddress(server)
  const reason = useUnavailableReason(listed)
  return (
    <tr className="relative hover:bg-raised">
      <th scope="row" className={`${cell} max-w-72 truncate font-medium`}>
        <ServerLink listed={listed} />
      </th>
      <td className={cell}>
        <StateBadge server={server} state={stats?.current_state ?? null} isUnreachable={outage !== null} />
      </td>
      <td className={`${cell} whitespace-nowrap`}>
        <span className="relative flex items-center gap-1">
          <span className="private font-mono text-xs">{address ?? t('strings:word.none')}</span>
          {address && <CopyButton text={address} label={t('copy_address', { server: server.name })} />}
        </span>
      </td>
      {reason === null ? (
        usageOf(listed).map(({ name, text }) => (
          <td key={name} className={`${cell} whitespace-nowrap tabular-nums`}>
            {text}
          </td>
        ))
      ) : (
        <td colSpan={3} className={`${cell} text-muted`}>
          {reason}
        </td>
      )}
      <td className={`${cell} w-12`}>
        <span className="relative">
          <ServerMenu listed={listed} />
        </span>
      </td>
    </tr>
  )
}
