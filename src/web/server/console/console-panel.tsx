import { ArrowDownToLine } from 'lucide-react'
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useStored } from '../../app/stored.ts'
import { Button } from '../../components/button.tsx'
import { useServer } from '../server-context.tsx'
import { CommandInput } from './command-input.tsx'
import { ConnectionBadge } from './connection-badge.tsx'
import { ConsoleTools } from './console-tools.tsx'
import { FindBar } from './find-bar.tsx'
import type { LogTerminal } from './terminal.ts'

const TerminalView = lazy(() => import('./terminal-view.tsx'))

const fontSizes = ['13', '10', '11', '12', '14', '15', '16', '18', '20', '24'] as const
const onOff = ['on', 'off'] as const
const offOn = ['off', 'on'] as const

/** How the console looks on this device. */
function useConsoleLook() {
  const [fontSize, setFontSize] = useStored('roost.console.font', fontSizes)
  const [wraps, setWraps] = useStored('roost.console.wrap', onOff)
  const [isRead, setRead] = useStored('roost.console.read', offOn)
  const look = useMemo(
    () => ({ fontSize: Number(fontSize), wraps: wraps === 'on', isRead: isRead === 'on' }),
    [fontSize, wraps, isRead],
  )
  const ordered = fontSizes.toSorted((a, b) => Number(a) - Number(b))
  const neighbour = (step: number) => ordered[ordered.indexOf(fontSize) + step]
  return {
    look,
    larger: neighbour(1),
    smaller: neighbour(-1),
    setFontSize,
    setWraps: (on: boolean) => setWraps(on ? 'on' : 'off'),
    setRead: (on: boolean) => setRead(on ? 'on' : 'off'),
  }
}

export type ConsoleLook = ReturnType<typeof useConsoleLook>

/** The browser's own keys for finding, while the focus is in this part of the page. */
function onFindKey(part: HTMLElement | null, find: () => void): () => void {
  const press = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.altKey) return
    event.preventDefault()
    find()
  }
  part?.addEventListener('keydown', press)
  return () => part?.removeEventListener('keydown', press)
}

/** The server's console: what it says, what can be done with that, and the line for commands. */
export function ConsolePanel() {
  const { t } = useTranslation('console')
  const { log } = useServer()
  const look = useConsoleLook()
  const [terminal, setTerminal] = useState<LogTerminal | null>(null)
  const [isFinding, setFinding] = useState(false)
  const frame = useRef<HTMLElement>(null)
  useEffect(() => onFindKey(frame.current, () => setFinding(true)), [])
  return (
    <section
      aria-label={t('title')}
      ref={frame}
      className="flex min-w-0 flex-col overflow-hidden rounded-card border border-line bg-surface"
    >
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line py-1.5 pr-1.5 pl-3">
        <ConnectionBadge />
        <ConsoleTools look={look} terminal={terminal} onFind={() => setFinding(true)} />
      </div>
      {isFinding && <FindBar terminal={terminal} onClose={() => setFinding(false)} />}
      <div className="relative h-[46dvh] min-h-64 md:h-[62dvh]">
        <Suspense fallback={<p className="p-3 font-mono text-sm text-muted">{t('strings:loading')}</p>}>
          <TerminalView log={log} look={look.look} onReady={setTerminal} />
        </Suspense>
        <JumpToEnd terminal={terminal} />
      </div>
      <CommandInput />
    </section>
  )
}

/** Leads back to the newest line, while it is out of sight. */
function JumpToEnd({ terminal }: { terminal: LogTerminal | null }) {
  const { t } = useTranslation('console')
  const [isAtEnd, setAtEnd] = useState(true)
  useEffect(() => terminal?.onScroll(setAtEnd), [terminal])
  if (isAtEnd) return null
  return (
    <Button
      look="primary"
      icon={ArrowDownToLine}
      onClick={() => terminal?.scrollToEnd()}
      className="absolute right-4 bottom-3 shadow-lg"
    >
      {t('newest')}
    </Button>
  )
}
