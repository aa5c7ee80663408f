import { ArrowDownToLine } from 'lucide-react'
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { loadTexts } from '../../app/texts.ts'
import { useStoredChoice } from '../../app/use-stored-choice.ts'
import { Button } from '../../components/button.tsx'
import { useServer } from '../server-context.tsx'
import { CommandInput } from './command-input.tsx'
import { ConnectionBadge } from './connection-badge.tsx'
import { ConsoleTools } from './console-tools.tsx'
import { FilterBar } from './filter-bar.tsx'
import { FindBar } from './find-bar.tsx'
import type { Level } from './line-level.ts'
import type { LogTerminal } from './terminal.ts'

// They are needed when the output tells of a problem, so they come after the console itself.
// Without them there is still a console.
const ConsoleHelpers = lazy(async () => {
  const loaded = Promise.all([import('./helpers/console-helpers.tsx'), loadTexts('helpers')])
  const helpers = await loaded.catch(() => null)
  return { default: helpers ? helpers[0].default : () => null }
})
const TerminalView = lazy(() => import('./terminal-view.tsx'))

const fontSizes = ['13', '10', '11', '12', '14', '15', '16', '18', '20', '24'] as const
const onOff = ['on', 'off'] as const
const offOn = ['off', 'on'] as const

/** The display options of the console, stored on this device. */
function useConsoleOptions() {
  const [fontSize, setFontSize] = useStoredChoice('roost.console.font', fontSizes)
  const [wraps, setWraps] = useStoredChoice('roost.console.wrap', onOff)
  const [hasScreenReader, setScreenReader] = useStoredChoice('roost.console.read', offOn)
  const options = useMemo(
    () => ({ fontSize: Number(fontSize), wraps: wraps === 'on', hasScreenReader: hasScreenReader === 'on' }),
    [fontSize, wraps, hasScreenReader],
  )
  const sortedSizes = fontSizes.toSorted((a, b) => Number(a) - Number(b))
  const neighbour = (step: number) => sortedSizes[sortedSizes.indexOf(fontSize) + step]
  return {
    terminal: options,
    larger: neighbour(1),
    smaller: neighbour(-1),
    setFontSize,
    setWraps: (on: boolean) => setWraps(on ? 'on' : 'off'),
    setScreenReader: (on: boolean) => setScreenReader(on ? 'on' : 'off'),
  }
}

export type ConsoleOptions = ReturnType<typeof useConsoleOptions>

/** Calls `find` on the browser's search shortcut while the element has the focus. */
function onFindKey(element: HTMLElement | null, find: () => void): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.altKey) return
    event.preventDefault()
    find()
  }
  element?.addEventListener('keydown', onKeyDown)
  return () => element?.removeEventListener('keydown', onKeyDown)
}

/** The console of a server: output, tools and command input, which is left out where no command can be sent. */
export function ConsolePanel({ isReadOnly = false }: { isReadOnly?: boolean }) {
  const { t } = useTranslation('console')
  const { log } = useServer()
  const options = useConsoleOptions()
  const [terminal, setTerminal] = useState<LogTerminal | null>(null)
  const [isSearching, setSearching] = useState(false)
  const [isFiltering, setFiltering] = useState(false)
  const [levels, setLevels] = useState<ReadonlySet<Level> | null>(null)
  const closeFilter = () => {
    setFiltering(false)
    setLevels(null)
  }
  const frame = useRef<HTMLElement>(null)
  useEffect(() => onFindKey(frame.current, () => setSearching(true)), [])
  return (
    <section
      aria-label={t('title')}
      ref={frame}
      className="flex min-w-0 flex-1 flex-col overflow-hidden rounded-card border border-line bg-surface"
    >
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line py-1.5 pe-1.5 ps-3">
        <ConnectionBadge />
        <ConsoleTools
          options={options}
          terminal={terminal}
          onFind={() => setSearching(true)}
          isFiltering={isFiltering}
          onFilter={() => (isFiltering ? closeFilter() : setFiltering(true))}
        />
      </div>
      {isSearching && <FindBar terminal={terminal} onClose={() => setSearching(false)} />}
      {isFiltering && (
        <FilterBar terminal={terminal} levels={levels} onChange={setLevels} onClose={closeFilter} />
      )}
      {/* Takes what the window has left, so that the command input is always in view. */}
      <div className="relative min-h-20 flex-1">
        <Suspense fallback={<p className="p-3 font-mono text-sm text-muted">{t('strings:loading')}</p>}>
          <TerminalView log={log} options={options.terminal} levels={levels} onReady={setTerminal} />
        </Suspense>
        <JumpToEnd terminal={terminal} />
      </div>
      {terminal && !isReadOnly && (
        <Suspense>
          <ConsoleHelpers terminal={terminal} />
        </Suspense>
      )}
      {!isReadOnly && <CommandInput />}
    </section>
  )
}

/** Scrolls to the newest line; shown while that is out of view. */
function JumpToEnd({ terminal }: { terminal: LogTerminal | null }) {
  const { t } = useTranslation('console')
  const [isAtEnd, setAtEnd] = useState(true)
  useEffect(() => terminal?.onScroll(setAtEnd), [terminal])
  if (isAtEnd) return null
  return (
    <Button
      variant="primary"
      icon={ArrowDownToLine}
      onClick={() => terminal?.scrollToEnd()}
      className="absolute end-4 bottom-3 shadow-lg"
    >
      {t('newest')}
    </Button>
  )
}
