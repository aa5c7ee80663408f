import { lazy, Suspense } from 'react'
import { Skeleton } from '../../components/states.tsx'
import type { Node } from '../resources.ts'

// Other parts of a node have no charts.
const UsageOverTime = lazy(async () => ({
  default: (await import('../usage/usage-over-time.tsx')).UsageOverTime,
}))

/** What the servers of a node used over time. */
export const NodeUsage = ({ node }: { node: Node }) => (
  <Suspense fallback={<Skeleton />}>
    <UsageOverTime path={`/nodes/${node.id}/statistics`} />
  </Suspense>
)
