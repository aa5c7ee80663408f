import { useTranslation } from 'react-i18next'
import type { Server } from '../api/resources.ts'
import { Badge } from '../components/badge.tsx'
import { displayedState } from './server-state.ts'

/** Shows the state of a server. */
export function StateBadge({
  server,
  state,
  isUnreachable = false,
}: {
  server: Server
  state: string | null
  isUnreachable?: boolean
}) {
  const { t } = useTranslation()
  const { name, tone } = displayedState(server, state, isUnreachable)
  return (
    <Badge tone={tone}>
      <span aria-hidden className="size-1.5 rounded-full bg-current" />
      {t(`state.${name}`)}
    </Badge>
  )
}
