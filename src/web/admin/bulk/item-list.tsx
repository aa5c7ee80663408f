import type { ReactNode } from 'react'
import { useLoadedTexts, useTranslation } from '../../app/use-translation.ts'
import type { ErrorEntry } from '../../api/error.ts'
import { translateEntry } from '../../api/refusal-texts.ts'
import { formatNumber } from '../../app/formats.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Progress } from '../../components/meter.tsx'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import type { BulkOperation } from '../resources.ts'

type OperationItem = BulkOperation['items'][number]
type State = OperationItem['state']

/** One of many servers and how far it is; without an id it is not there yet. */
export type BulkItem = Pick<OperationItem, 'name' | 'state'> & {
  server_id: number | null
  error: ErrorEntry | null
}

/** The code of what was cancelled before it was begun. */
export const cancelledCode = 'BulkOperationCancelledException'

/** How many of the servers are done with. */
export function BulkProgress({
  label,
  items,
  beside,
  children,
}: {
  label: string
  items: readonly BulkItem[]
  beside?: ReactNode
  children?: ReactNode
}) {
  const { t } = useTranslation('admin')
  const ended = items.filter(({ state }) => state === 'done' || state === 'failed').length
  return (
    <div className="flex flex-col gap-2 rounded-card border border-line bg-surface p-4">
      <p aria-live="polite" className="flex flex-wrap justify-between gap-2 text-sm tabular-nums">
        <span>{t('bulk.progress', { ended: formatNumber(ended), total: formatNumber(items.length) })}</span>
        {beside}
      </p>
      <Progress label={label} ratio={ended / items.length} />
      {children}
    </div>
  )
}

/** The servers one by one; what needs attention comes first. */
export function BulkItems({ items }: { items: readonly BulkItem[] }) {
  const { t } = useTranslation('admin')
  return (
    <ul
      aria-label={t('nav.servers')}
      className="divide-y divide-line rounded-card border border-line bg-surface"
    >
      {items.toSorted(byState).map((item) => (
        <ItemRow key={item.server_id ?? item.name} item={item} />
      ))}
    </ul>
  )
}

const states: readonly State[] = ['failed', 'running', 'pending', 'done']
const byState = (one: BulkItem, other: BulkItem) => states.indexOf(one.state) - states.indexOf(other.state)
const tones: Record<State, Tone> = { failed: 'bad', running: 'info', pending: 'plain', done: 'good' }

function ItemRow({ item: { server_id: id, name, state, error } }: { item: BulkItem }) {
  const { t } = useTranslation('admin')
  useLoadedTexts('refusals')
  const isCancelled = error?.code === cancelledCode
  return (
    <li className="flex min-h-11 flex-wrap items-center justify-between gap-x-3 gap-y-1 px-4 py-2 text-sm">
      {name === null || id === null ? (
        <span className="wrap-anywhere text-muted">{name ?? `#${id}`}</span>
      ) : (
        <AdminLink to={`servers/${id}`} className={`${linkStyle} wrap-anywhere`}>
          {name}
        </AdminLink>
      )}
      <Badge tone={isCancelled ? 'plain' : tones[state]}>
        {t(isCancelled ? 'bulk.state_cancelled' : `bulk.state_${state}`)}
      </Badge>
      {error && !isCancelled && <p className="basis-full text-muted">{translateEntry(error).detail}</p>}
    </li>
  )
}
