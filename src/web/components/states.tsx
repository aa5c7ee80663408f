import { CircleAlert, type LucideIcon, Lock, SearchX, ServerOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { asRequestError } from '../api/error.ts'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'

function Notice({
  icon: Icon,
  title,
  text,
  children,
  role,
}: {
  icon: LucideIcon
  title: string
  text?: ReactNode
  children?: ReactNode
  role?: 'alert'
}) {
  return (
    <div
      role={role}
      className="flex flex-col items-center gap-2 rounded-card border border-dashed border-line-strong px-6 py-12 text-center"
    >
      <Icon aria-hidden className="size-8 text-muted" strokeWidth={1.5} />
      <p className="font-medium">{title}</p>
      {text && <div className="max-w-prose text-sm wrap-anywhere text-muted">{text}</div>}
      {children && <div className="mt-2 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  )
}

/** Shows that a list is empty; the children are what to do next. */
export const EmptyState = (props: {
  icon: LucideIcon
  title: string
  text?: ReactNode
  children?: ReactNode
}) => <Notice {...props} />

/** Shows an error with what to do, a retry button, and the request ID for support. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useTranslation()
  const requestError = asRequestError(error)
  const status = requestError?.status ?? 500
  const icon = status === 403 ? Lock : status === 404 ? SearchX : status >= 502 ? ServerOff : CircleAlert
  const name = failureName(status)
  const detail = status >= 400 ? requestError?.message : undefined
  const text = (
    <>
      {detail && <p>{detail}</p>}
      {/* How long to wait stands in the detail. */}
      {!(detail && name === 'throttled') && (
        <p>{t(`failure.advice_${name === 'other' ? 'unknown' : name}`)}</p>
      )}
    </>
  )
  return (
    <Notice icon={icon} role="alert" title={t(`failure.${name}`)} text={text}>
      {onRetry && status !== 403 && <Button onClick={onRetry}>{t('action.retry')}</Button>}
      {requestError?.requestId && (
        <p className="w-full text-xs text-muted">
          {t('failure.request', { request: requestError.requestId })}
        </p>
      )}
    </Notice>
  )
}

function failureName(
  status: number,
): 'offline' | 'forbidden' | 'missing' | 'conflict' | 'throttled' | 'node' | 'other' {
  if (status === 0) return 'offline'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'missing'
  if (status === 409) return 'conflict'
  if (status === 429) return 'throttled'
  return status >= 502 ? 'node' : 'other'
}

/** Placeholders shaped like the rows to come. */
export function Skeleton({ rows = 4, className = 'h-14' }: { rows?: number; className?: string }) {
  const { t } = useTranslation()
  return (
    <div role="status" aria-label={t('loading')} className="flex flex-col gap-2">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={classNames('animate-pulse rounded-card bg-raised', className)} />
      ))}
    </div>
  )
}

type LoadedProps<Data> = {
  query: { data: Data | undefined; error: unknown; failureReason?: unknown; refetch: () => unknown }
  skeleton?: ReactNode
  children: (data: Data) => ReactNode
}

/** Renders the data of a query; before that a skeleton, or the error. */
export function Loaded<Data>({ query, skeleton, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data)
  // A throttled query retries after a long wait, so its error is shown at once; other failures often pass within a
  // second.
  const isThrottled = asRequestError(query.failureReason)?.status === 429
  const error = isThrottled ? query.failureReason : query.error
  if (error) return <ErrorState error={error} onRetry={() => void query.refetch()} />
  return skeleton ?? <Skeleton />
}
