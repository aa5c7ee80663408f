import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { formatDateTime, formatRelative } from '../app/formats.ts'
import { site } from '../app/site.ts'
import { installationQuery } from '../api/servers.ts'
import { plainText } from './console/console-log.ts'
import { ReinstallButton } from './reinstall-button.tsx'
import { useServer } from './server-context.tsx'

/** Shows since when the server is being installed, the log of its daemon, and to whom may: a button to install again. */
export function InstallationDetails() {
  const { t } = useTranslation('server')
  const { id, server, isOwner, can } = useServer()
  const { data } = useQuery({ ...installationQuery(id), enabled: can('settings.reinstall') })
  if (!can('settings.reinstall')) return null
  const { started_at: startedAt = null, log = null } = data?.attributes ?? {}
  const isRunning = server.status === 'installing'
  return (
    <div className="mt-2 flex flex-col items-start gap-2">
      {startedAt !== null && (
        <time dateTime={startedAt} title={formatDateTime(startedAt)}>
          {t('installation.started', { date: formatRelative(startedAt) })}
        </time>
      )}
      {log !== null && log.trim() !== '' && (
        <details className="w-full min-w-0">
          <summary className="cursor-pointer">{t('installation.log')}</summary>
          <textarea
            readOnly
            rows={12}
            aria-label={t('installation.log')}
            className="mt-1 block w-full bg-transparent font-mono text-xs"
            value={plainText(log)}
          />
        </details>
      )}
      {isRunning && (isOwner || site.user?.root_admin) && <ReinstallButton label={t('installation.again')} />}
    </div>
  )
}
