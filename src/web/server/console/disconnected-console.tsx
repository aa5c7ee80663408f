import { useQuery } from '@tanstack/react-query'
import { Lock, ServerOff, Unplug } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { conflictQuery } from '../../api/servers.ts'
import { can as administers } from '../../admin/levels.ts'
import { Button } from '../../components/button.tsx'
import { type ConnectionObstacle, obstacleTexts, obstacleTitles } from '../connection-obstacle.ts'
import { RetryCountdown } from '../server-banners.tsx'
import { useLive, useServer } from '../server-context.tsx'
import { AdminPageLink } from './blocked-console.tsx'
import { ConsoleNotice } from './console-notice.tsx'
import { ConsolePanel } from './console-panel.tsx'

const icons = { refused: Lock, unreachable: ServerOff, line_blocked: Unplug }

/** What stands in place of the console without a live connection; output from before stays readable below it. */
export function DisconnectedConsole({ obstacle }: { obstacle: Exclude<ConnectionObstacle, 'panel_away'> }) {
  const { t } = useTranslation('server')
  const { id, server, socket, log } = useServer()
  const { connection, retryAt } = useLive()
  const { data } = useQuery({ ...conflictQuery(id, obstacle), enabled: obstacle === 'unreachable' })
  const isAdministrator = administers('servers', 'write')
  const text =
    isAdministrator && obstacle === 'unreachable' ? 'console_away.unreachable_admin' : obstacleTexts[obstacle]
  const [hasOutput] = useState(() => log.since(0).lines.length > 0)
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-3">
      <ConsoleNotice
        icon={icons[obstacle]}
        tone={obstacle === 'unreachable' ? 'bad' : 'warn'}
        title={t(obstacleTitles[obstacle])}
        text={
          <>
            {t(text, { node: server.node })} {retryAt !== null && <RetryCountdown at={retryAt} />}
          </>
        }
        since={data?.attributes.node_down_since}
        isAboveOutput={hasOutput}
        actions={
          <>
            <Button onClick={socket.retry} busy={connection === 'connecting'}>
              {t('strings:action.retry')}
            </Button>
            {isAdministrator && obstacle !== 'refused' && <AdminPageLink page="" />}
          </>
        }
      />
      {hasOutput && <ConsolePanel isReadOnly />}
    </div>
  )
}
