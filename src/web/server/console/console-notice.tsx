import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatDateTime, formatRelative } from '../../app/formats.ts'
import type { Tone } from '../../components/badge.tsx'
import { classNames } from '../../components/class-names.ts'

const iconTones: Partial<Record<Tone, string>> = {
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
}

/**
 * Says in place of the console why there is none, and what can be done. Takes the room of the console, unless there is
 * output to show below it.
 */
export function ConsoleNotice({
  icon: Icon,
  tone,
  title,
  text,
  since,
  actions,
  isAboveOutput = false,
  children,
}: {
  icon: LucideIcon
  tone: 'bad' | 'warn'
  title: string
  text: ReactNode
  /** When it began, where that is known. */
  since?: string | null | undefined
  actions?: ReactNode
  isAboveOutput?: boolean
  children?: ReactNode
}) {
  return (
    <section
      role={tone === 'bad' ? 'alert' : 'status'}
      className={classNames(
        'flex rounded-card border border-line bg-surface px-4',
        isAboveOutput ? 'py-4' : 'flex-1 justify-center py-8 sm:py-12 lg:items-center',
      )}
    >
      <div
        className={classNames(
          'flex min-w-0 gap-x-4 gap-y-3',
          isAboveOutput ? 'flex-1' : 'w-full max-w-xl flex-col items-center text-center',
        )}
      >
        <span className={classNames('h-fit shrink-0 rounded-full p-3', iconTones[tone])}>
          <Icon aria-hidden className="size-6" strokeWidth={1.75} />
        </span>
        <div className="flex w-full min-w-0 flex-col gap-3">
          <div>
            <h2 className="text-lg font-semibold">{title}</h2>
            <div className="mt-1 text-sm text-balance wrap-anywhere">{text}</div>
            {since && <Since at={since} />}
          </div>
          {children}
          {actions && (
            <div className={classNames('flex flex-wrap gap-2', !isAboveOutput && 'justify-center')}>
              {actions}
            </div>
          )}
        </div>
      </div>
    </section>
  )
}

/** Says since when the console is away. */
function Since({ at }: { at: string }) {
  const { t } = useTranslation('server')
  return (
    <p className="mt-1 text-sm text-balance text-muted tabular-nums">
      <time dateTime={at}>
        {t('console_away.since', { time: formatDateTime(at), ago: formatRelative(at) })}
      </time>
    </p>
  )
}
