import { createFileRoute } from '@tanstack/react-router'
import { useTranslation } from '../../../../app/use-translation.ts'
import { loadTexts } from '../../../../app/texts.ts'
import { usePageTitle } from '../../../../app/page-title.ts'
import { useConnectionObstacle } from '../../../../server/connection-obstacle.ts'
import { BlockedConsole } from '../../../../server/console/blocked-console.tsx'
import { ConsolePanel } from '../../../../server/console/console-panel.tsx'
import { ConsoleUsage } from '../../../../server/console/console-usage.tsx'
import { DisconnectedConsole } from '../../../../server/console/disconnected-console.tsx'
import { useServer } from '../../../../server/server-context.tsx'
import { isBlocked, serverConflict } from '../../../../server/server-state.ts'

export const Route = createFileRoute('/_app/server/$server/')({
  loader: () => loadTexts('console'),
  component: ConsolePage,
})

function ConsolePage() {
  const { t } = useTranslation('console')
  const { server } = useServer()
  usePageTitle(t('title'), server.name)
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-3 xl:flex-row xl:gap-4">
      <h1 className="sr-only">{t('title')}</h1>
      <Console />
    </div>
  )
}

/** The console with the resource usage beside it, or why there is none. */
function Console() {
  const { server } = useServer()
  const conflict = serverConflict(server)
  const obstacle = useConnectionObstacle()
  if (conflict && isBlocked(server)) return <BlockedConsole conflict={conflict} />
  if (obstacle !== null && obstacle !== 'panel_away') return <DisconnectedConsole obstacle={obstacle} />
  return (
    <>
      <ConsolePanel />
      <ConsoleUsage />
    </>
  )
}
