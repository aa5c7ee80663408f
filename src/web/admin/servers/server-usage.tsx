import { lazy, Suspense } from 'react'
import { Skeleton } from '../../components/states.tsx'
import type { Server } from '../resources.ts'

// Other parts of a server have no charts.
const UsageOverTime = lazy(async () => ({
  default: (await import('../usage/usage-over-time.tsx')).UsageOverTime,
}))

/** What the server used over time. */
export const ServerUsage = ({ server }: { server: Server }) => (
  <Suspense fallback={<Skeleton />}>
    <UsageOverTime path={`/servers/${server.id}/statistics`} />
  </Suspense>
)
