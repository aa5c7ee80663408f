import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Banner } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { Progress } from '../components/meter.tsx'
import { plainText } from './console/console-log.ts'
import type { SocketEvent } from './console-socket.ts'
import { useLive, useServer, useSocketEvents } from './server-context.tsx'
import { useServerLive } from './server-live.ts'
import { obstacleOf } from './server-state.ts'

/** Events after which the panel may know something else about the server. */
const changes = new Set([
  'install started',
  'install completed',
  'backup restore completed',
  'transfer status',
  'deleted',
  'conflict',
])

/** What a daemon says while it works on a server. */
const steps = new Set(['install output', 'transfer logs', 'daemon message'])

/** Says what holds the server up, why, and what comes next; nothing while all is well. */
export function ServerBanners() {
  const { server } = useServer()
  const obstacle = obstacleOf(server)
  const step = useDaemonSteps()
  return obstacle ? <ObstacleBanner obstacle={obstacle} step={step} /> : <LineBanner />
}

/** The server is asked for again when its daemon has changed it. Returns what the daemon last said it does. */
function useDaemonSteps(): string | null {
  const queries = useQueryClient()
  const [step, setStep] = useState<string | null>(null)
  const hear = useCallback(
    ({ event, args }: SocketEvent) => {
      if (steps.has(event)) setStep(plainText(args[0] ?? ''))
      if (!changes.has(event)) return
      setStep(null)
      void queries.invalidateQueries({ queryKey: ['server'] })
    },
    [queries],
  )
  useSocketEvents(hear)
  return step
}

type Obstacle = NonNullable<ReturnType<typeof obstacleOf>>

/** Obstacles that pass by themselves. */
const passing = new Set<Obstacle>(['installing', 'restoring', 'transferring'])

function ObstacleBanner({ obstacle, step }: { obstacle: Obstacle; step: string | null }) {
  const { t } = useTranslation('server')
  const isBad = obstacle === 'suspended' || obstacle === 'install_failed'
  const title = t(`strings:state.${obstacle}`)
  return (
    <Banner tone={isBad ? 'bad' : 'warn'} title={title}>
      <p>{t(`banner.${obstacle}`)}</p>
      {passing.has(obstacle) && (
        <div className="mt-2 flex flex-col gap-1.5">
          <Progress label={title} share={null} />
          {step && (
            <p aria-live="off" className="truncate font-mono text-xs">
              {step}
            </p>
          )}
        </div>
      )}
    </Banner>
  )
}

/** Says that nothing live is shown, and since when the line is tried. */
function LineBanner() {
  const { t } = useTranslation('server')
  const { server, socket } = useServer()
  const { connection, retryAt, isPanelAway } = useLive()
  const { isUnreachable, isLineBlocked } = useServerLive()
  if (connection === 'refused') {
    return (
      <Banner tone="warn" title={t('banner.refused')}>
        {t('banner.refused_text')}
      </Banner>
    )
  }
  if (!isUnreachable && !isLineBlocked) return null
  const retry = (
    <Button onClick={socket.retry} busy={connection === 'connecting'}>
      {t('strings:action.retry')}
    </Button>
  )
  return (
    <Banner
      tone={isUnreachable ? 'bad' : 'warn'}
      title={t(
        isPanelAway
          ? 'strings:failure.offline'
          : isUnreachable
            ? 'strings:state.unreachable'
            : 'banner.line_blocked',
      )}
      actions={retry}
    >
      {t(
        isPanelAway ? 'banner.panel_away' : isUnreachable ? 'banner.unreachable' : 'banner.line_blocked_text',
        {
          node: server.node,
        },
      )}{' '}
      {retryAt !== null && <RetryCountdown at={retryAt} />}
    </Banner>
  )
}

/** How many seconds until it is tried again. Read out once, not each second. */
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
