import { useTranslation } from '../app/use-translation.ts'
import { Badge } from '../components/badge.tsx'
import { displayedState, type ServerFlags } from './server-state.ts'

/** Shows the state of a server. */
export function StateBadge({
  server,
  state,
  isUnreachable = false,
}: {
  server: ServerFlags
  state: string | null
  isUnreachable?: boolean
}) {
  const { t } = useTranslation()
  const { name, tone, shape } = displayedState(server, state, isUnreachable)
  return (
    <Badge tone={tone} shape={shape}>
      {t(`state.${name}`)}
    </Badge>
  )
}
