import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { Banner } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { obstacleTexts, obstacleTitles, useConnectionObstacle } from './connection-obstacle.ts'
import type { SocketEvent } from './console-socket.ts'
import { useLive, useServer, useSocketEvents } from './server-context.tsx'
import { isBlocked, serverConflict } from './server-state.ts'

const InstallationDetails = lazy(async () => ({
  default: (await import('./installation-details.tsx')).InstallationDetails,
}))

/** Events after which the panel may report another state of the server. */
const stateEvents = new Set([
  'install started',
  'install completed',
  'backup restore completed',
  'transfer status',
  'deleted',
  'conflict',
])

/**
 * Shows what blocks the server, or that the connection is lost; nothing otherwise. The page of the console says it in
 * place of the console, with all that is known.
 */
export function ServerBanners({ isConsole }: { isConsole: boolean }) {
  const { t } = useTranslation('server')
  const { server } = useServer()
  useRefetchOnStateEvents()
  const conflict = serverConflict(server)
  if (!conflict) return <ConnectionBanner isConsole={isConsole} />
  if (isConsole && isBlocked(server)) return null
  const isBad = conflict === 'suspended' || conflict === 'install_failed'
  return (
    <Banner tone={isBad ? 'bad' : 'warn'} title={t(`strings:state.${conflict}`)}>
      <p>{t(`banner.${conflict}`)}</p>
      {isConsole && conflict === 'install_failed' && (
        <Suspense>
          <InstallationDetails />
        </Suspense>
      )}
    </Banner>
  )
}

/** Refetches the server when its daemon reports a new state. */
function useRefetchOnStateEvents(): void {
  const queries = useQueryClient()
  const onEvent = useCallback(
    ({ event }: SocketEvent) => {
      if (stateEvents.has(event)) void queries.invalidateQueries({ queryKey: ['server'] })
    },
    [queries],
  )
  useSocketEvents(onEvent)
}

/** Shows that there is no live connection, and when the next attempt starts. */
function ConnectionBanner({ isConsole }: { isConsole: boolean }) {
  const { t } = useTranslation('server')
  const { server, socket } = useServer()
  const { connection, retryAt } = useLive()
  const obstacle = useConnectionObstacle()
  if (obstacle === null || (isConsole && obstacle !== 'panel_away')) return null
  return (
    <Banner
      tone={obstacle === 'unreachable' || obstacle === 'panel_away' ? 'bad' : 'warn'}
      title={t(obstacleTitles[obstacle])}
      {...(obstacle === 'refused'
        ? {}
        : {
            actions: (
              <Button onClick={socket.retry} busy={connection === 'connecting'}>
                {t('strings:action.retry')}
              </Button>
            ),
          })}
    >
      {t(obstacleTexts[obstacle], { node: server.node })}{' '}
      {retryAt !== null && <RetryCountdown at={retryAt} />}
    </Banner>
  )
}

/** Shows the seconds until the next attempt. Hidden from screen readers, which would read each second. */
export function RetryCountdown({ at }: { at: number }) {
  const { t } = useTranslation('server')
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  const count = Math.max(0, Math.ceil((at - now) / 1000))
  return (
    <span aria-hidden className="tabular-nums">
      {t('banner.retry_in', { count })}
    </span>
  )
}
