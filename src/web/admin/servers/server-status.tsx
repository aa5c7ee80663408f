import { useTranslation } from '../../app/use-translation.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { type Shape, StatusShape } from '../../components/status-shape.tsx'
import type { Server } from '../resources.ts'

/** The statuses that a list of servers can be filtered by; `normal` is that of servers without one. */
export const serverStatuses = [
  'normal',
  'installing',
  'install_failed',
  'reinstall_failed',
  'suspended',
  'restoring_backup',
] as const

const tones: Record<(typeof serverStatuses)[number], Tone> = {
  normal: 'good',
  installing: 'info',
  install_failed: 'bad',
  reinstall_failed: 'bad',
  suspended: 'warn',
  restoring_backup: 'info',
}

/** What the panel knows about a server without asking its node. */
export function ServerStatus({ status }: Pick<Server, 'status'>) {
  const { t } = useTranslation('admin')
  const name = status ?? 'normal'
  return <Badge tone={tones[name]}>{t(`status.${name}`)}</Badge>
}

/** The states of a process that a list of servers can be filtered by; `unknown` is that of servers that no node reported. */
export const processStates = ['running', 'starting', 'stopping', 'offline', 'unknown'] as const
type State = (typeof processStates)[number]

/** Returns the name of the text of a state. */
export const stateText = (state: State) =>
  state === 'unknown' ? 'servers.state_unknown' : `strings:state.${state}`

const shapes: Record<State, [Shape, string]> = {
  running: ['disc', 'text-good'],
  starting: ['half', 'text-warn'],
  stopping: ['half', 'text-warn'],
  offline: ['ring', 'text-muted'],
  unknown: ['diamond', 'text-muted'],
}

/** The state of a server's process at the last check of its node. */
export function ProcessState({ state = 'unknown' }: { state?: State | undefined }) {
  const { t } = useTranslation('admin')
  const [shape, colour] = shapes[state]
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <StatusShape shape={shape} className={colour} />
      {t(stateText(state))}
    </span>
  )
}
