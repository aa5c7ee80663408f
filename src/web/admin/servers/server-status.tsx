import { useTranslation } from 'react-i18next'
import { Badge, type Tone } from '../../components/badge.tsx'
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

const dots: Record<State, string> = {
  running: 'bg-good',
  starting: 'bg-warn',
  stopping: 'bg-warn',
  offline: 'bg-muted',
  unknown: 'border border-muted',
}

/** The state of a server's process at the last check of its node. */
export function ProcessState({ state = 'unknown' }: { state?: State | undefined }) {
  const { t } = useTranslation('admin')
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <span aria-hidden className={`size-2 rounded-full ${dots[state]}`} />
      {t(stateText(state))}
    </span>
  )
}
