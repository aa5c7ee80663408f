import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Banner } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { Progress } from '../components/meter.tsx'
import { usePanelReachable } from '../offline/use-panel-reachable.ts'
import { plainText } from './console/console-log.ts'
import type { SocketEvent } from './console-socket.ts'
import { useLive, useServer, useSocketEvents } from './server-context.tsx'
import { useServerLive } from './server-live.ts'
import { serverConflict } from './server-state.ts'

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

/** Events that report progress while the daemon works on a server. */
const progressEvents = new Set(['install output', 'transfer logs', 'daemon message'])

/** Shows what blocks the server, with its progress, or that the connection is lost; nothing otherwise. */
export function ServerBanners() {
  const { server } = useServer()
  const conflict = serverConflict(server)
  const progress = useDaemonProgress()
  return conflict ? <ConflictBanner conflict={conflict} progress={progress} /> : <ConnectionBanner />
}

/** Refetches the server when its daemon reports a new state. Returns the latest progress message. */
function useDaemonProgress(): string | null {
  const queries = useQueryClient()
  const [progress, setProgress] = useState<string | null>(null)
  const onEvent = useCallback(
    ({ event, args }: SocketEvent) => {
      if (progressEvents.has(event)) setProgress(plainText(args[0] ?? ''))
      if (!stateEvents.has(event)) return
      setProgress(null)
      void queries.invalidateQueries({ queryKey: ['server'] })
    },
    [queries],
  )
  useSocketEvents(onEvent)
  return progress
}

type Conflict = NonNullable<ReturnType<typeof serverConflict>>

/** Conflicts that end on their own. */
const temporary = new Set<Conflict>(['installing', 'restoring', 'transferring'])

function ConflictBanner({ conflict, progress }: { conflict: Conflict; progress: string | null }) {
  const { t } = useTranslation('server')
  const isBad = conflict === 'suspended' || conflict === 'install_failed'
  const title = t(`strings:state.${conflict}`)
  return (
    <Banner tone={isBad ? 'bad' : 'warn'} title={title}>
      <p>{t(`banner.${conflict}`)}</p>
      {temporary.has(conflict) && (
        <div className="mt-2 flex flex-col gap-1.5">
          <Progress label={title} ratio={null} />
          {progress && (
            <p aria-live="off" className="truncate font-mono text-xs">
              {progress}
            </p>
          )}
        </div>
      )}
      {(conflict === 'installing' || conflict === 'install_failed') && (
        <Suspense>
          <InstallationDetails />
        </Suspense>
      )}
    </Banner>
  )
}

/** Shows that there is no live connection, and when the next attempt starts. */
function ConnectionBanner() {
  const { t } = useTranslation('server')
  const { server, socket } = useServer()
  const { connection, retryAt, isPanelUnreachable } = useLive()
  const { isUnreachable, isSocketBlocked } = useServerLive()
  const isPanelReachable = usePanelReachable()
  if (connection === 'refused') {
    return (
      <Banner tone="warn" title={t('banner.refused')}>
        {t('banner.refused_text')}
      </Banner>
    )
  }
  // Without the panel the notice above says what is wrong, and nothing is known of the node.
  if (!isPanelReachable || (!isUnreachable && !isSocketBlocked)) return null
  const retry = (
    <Button onClick={socket.retry} busy={connection === 'connecting'}>
      {t('strings:action.retry')}
    </Button>
  )
  return (
    <Banner
      tone={isUnreachable ? 'bad' : 'warn'}
      title={t(
        isPanelUnreachable
          ? 'strings:failure.offline'
          : isUnreachable
            ? 'strings:state.unreachable'
            : 'banner.line_blocked',
      )}
      actions={retry}
    >
      {t(
        isPanelUnreachable
          ? 'banner.panel_away'
          : isUnreachable
            ? 'banner.unreachable'
            : 'banner.line_blocked_text',
        {
          node: server.node,
        },
      )}{' '}
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
