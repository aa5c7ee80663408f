import { useTranslation } from 'react-i18next'
import type { Server } from '../api/resources.ts'
import { Badge } from '../components/badge.tsx'
import { shownState } from './server-state.ts'

/** How a server is, in a word and a colour. */
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
  const { name, tone } = shownState(server, state, isUnreachable)
  return (
    <Badge tone={tone}>
      <span aria-hidden className="size-1.5 rounded-full bg-current" />
      {t(`state.${name}`)}
    </Badge>
  )
}
