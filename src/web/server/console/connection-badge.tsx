import { RotateCw } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { IconButton } from '../../components/button.tsx'
import type { Connection } from '../console-socket.ts'
import { RetryCountdown } from '../server-banners.tsx'
import { useLive, useServer } from '../server-context.tsx'
import { StateBadge } from '../state-badge.tsx'

const tones: Record<Exclude<Connection, 'closed'>, Tone> = {
  open: 'good',
  connecting: 'plain',
  unreachable: 'warn',
  refused: 'bad',
}

/** Shows the state of the connection, and when the next attempt starts; without one, the state of the server. */
export function ConnectionBadge() {
  const { t } = useTranslation('console')
  const { server, socket } = useServer()
  const { connection, retryAt } = useLive()
  const mayRetry = connection === 'unreachable' || connection === 'refused'
  return (
    <div className="flex min-h-9 items-center gap-2 text-xs text-muted">
      <span role="status">
        {connection === 'closed' ? (
          <StateBadge server={server} state={null} />
        ) : (
          <Badge tone={tones[connection]}>{t(`connection.${connection}`)}</Badge>
        )}
      </span>
      {retryAt !== null && <RetryCountdown at={retryAt} />}
      {mayRetry && <IconButton icon={RotateCw} label={t('connection.retry')} onClick={socket.retry} />}
    </div>
  )
}
