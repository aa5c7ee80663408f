import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../app/use-translation.ts'
import { site } from '../app/site.ts'
import { installationQuery } from '../api/servers.ts'
import { plainText } from './console/console-log.ts'
import { ReinstallButton } from './reinstall-button.tsx'
import { useServer } from './server-context.tsx'

/** Shows the log of the installation, and to those who may: a button to install again. */
export function InstallationDetails() {
  const { t } = useTranslation('server')
  const { id, server, isOwner, can } = useServer()
  const { data } = useQuery({ ...installationQuery(id), enabled: can('settings.reinstall') })
  if (!can('settings.reinstall')) return null
  const log = data?.attributes.log ?? ''
  const isRunning = server.status === 'installing'
  // What runs may be begun again by its owner alone, what has failed by everyone with the permission.
  const mayRepeat = !isRunning || isOwner || site.user?.root_admin
  return (
    <div className="flex flex-col gap-2 text-sm">
      {log.trim() !== '' && (
        <details className="w-full min-w-0 text-start">
          <summary className="cursor-pointer">{t('installation.log')}</summary>
          <textarea
            readOnly
            rows={12}
            aria-label={t('installation.log')}
            className="mt-1 block w-full rounded-control border border-line bg-canvas p-2 font-mono text-xs"
            value={plainText(log)}
          />
        </details>
      )}
      {mayRepeat && (
        // Where the text around it stands, and no wider than its own.
        <div>
          <ReinstallButton label={t('installation.again')} isQuiet={isRunning} />
        </div>
      )}
    </div>
  )
}
