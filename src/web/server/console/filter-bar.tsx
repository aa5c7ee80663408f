import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatNumber } from '../../app/formats.ts'
import { classNames } from '../../components/class-names.ts'
import { IconButton } from '../../components/button.tsx'
import { useServer } from '../server-context.tsx'
import type { ConsoleLog, LevelCounts } from './console-log.ts'
import { type Level, levels as allLevels } from './line-level.ts'
import type { LogTerminal } from './terminal.ts'

type Props = {
  terminal: LogTerminal | null
  /** The levels that are shown; null is all of them. */
  levels: ReadonlySet<Level> | null
  onChange: (levels: ReadonlySet<Level> | null) => void
  onClose: () => void
}

const marks: Record<Level, string> = { info: 'bg-info', warn: 'bg-warn', error: 'bg-bad' }

/** Chooses the levels that the console shows, and goes from error to error. */
export function FilterBar({ terminal, levels, onChange, onClose }: Props) {
  const { t } = useTranslation('console')
  const { log } = useServer()
  const counts = useCounts(log)
  const toggle = (level: Level) => {
    const shown = new Set(levels ?? allLevels)
    if (!shown.delete(level)) shown.add(level)
    onChange(shown.size === allLevels.length ? null : shown)
  }
  const hasNoErrors = counts.error === 0 || (levels !== null && !levels.has('error'))
  return (
    <div
      role="group"
      aria-label={t('filter.label')}
      className="flex flex-wrap items-center gap-1 border-b border-line bg-canvas p-1.5"
    >
      {allLevels.map((level) => (
        <button
          key={level}
          type="button"
          aria-pressed={levels === null || levels.has(level)}
          onClick={() => toggle(level)}
          className="inline-flex min-h-8 items-center gap-1.5 rounded-control border border-line px-2 text-xs font-medium text-muted line-through aria-pressed:bg-surface aria-pressed:text-ink aria-pressed:no-underline"
        >
          <span aria-hidden className={classNames('size-2 rounded-full', marks[level])} />
          {t(`filter.${level}`)}
          <span className="text-muted tabular-nums max-sm:sr-only">{formatNumber(counts[level])}</span>
        </button>
      ))}
      <span className="ms-auto flex items-center">
        <IconButton
          icon={ChevronUp}
          label={t('filter.previous_error')}
          disabled={hasNoErrors}
          onClick={() => terminal?.showError(true)}
        />
        <IconButton
          icon={ChevronDown}
          label={t('filter.next_error')}
          disabled={hasNoErrors}
          onClick={() => terminal?.showError(false)}
        />
        {/* A phone has no room for it: there the button that opened the bar closes it. */}
        <IconButton icon={X} label={t('filter.close')} onClick={onClose} className="max-sm:hidden" />
      </span>
    </div>
  )
}

const countsIntervalMs = 500

/** Follows how many lines have each level; many lines come at once, so it looks twice a second. */
function useCounts(log: ConsoleLog): LevelCounts {
  const [counts, setCounts] = useState(() => log.counts())
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const update = () => {
      timer = undefined
      setCounts(log.counts())
    }
    const unsubscribe = log.subscribe(() => (timer ??= setTimeout(update, countsIntervalMs)))
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [log])
  return counts
}
