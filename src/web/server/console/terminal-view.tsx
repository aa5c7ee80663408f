import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { useIsDark } from '../../app/theme.ts'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'
import type { ConsoleLog } from './console-log.ts'
import type { Level } from './line-level.ts'
import { LogTerminal, type TerminalOptions } from './terminal.ts'

type Props = {
  log: ConsoleLog
  options: TerminalOptions
  /** The levels that are shown; null is all of them. */
  levels: ReadonlySet<Level> | null
  onReady: (terminal: LogTerminal | null) => void
}

/** Shows a log in a terminal that fills its container. */
export default function TerminalView({ log, options, levels, onReady }: Props) {
  const { t } = useTranslation('console')
  const container = useRef<HTMLDivElement>(null)
  const [terminal, setTerminal] = useState<LogTerminal | null>(null)
  const isDark = useIsDark()
  const open = useEffectEvent((element: HTMLElement) => {
    const terminal = new LogTerminal(element, log, options, { label: t('output'), tooMuch: t('too_much') })
    setTerminal(terminal)
    onReady(terminal)
    return terminal
  })
  useEffect(() => {
    if (!container.current) return
    const terminal = open(container.current)
    const observer = new ResizeObserver(() => requestAnimationFrame(terminal.fit))
    observer.observe(container.current)
    return () => {
      observer.disconnect()
      onReady(null)
      terminal.dispose()
    }
  }, [log, onReady])
  useEffect(() => terminal?.setOptions(options), [terminal, options])
  useEffect(() => terminal?.setTheme(), [terminal, isDark])
  useEffect(() => terminal?.setLevels(levels), [terminal, levels])
  useLinkedFiles(terminal)
  return (
    <div
      className={
        options.wraps
          ? 'absolute inset-0 overflow-hidden'
          : 'absolute inset-0 overflow-x-auto overflow-y-hidden'
      }
    >
      {/* The padding is outside the container, since the terminal fits its rows to the container's height. */}
      <div className="h-full py-2 ps-3">
        <div ref={container} className="h-full" />
      </div>
    </div>
  )
}

/** Makes the files that lines name open in the editor, for those who may read them. */
function useLinkedFiles(terminal: LogTerminal | null): void {
  const navigate = useNavigate()
  const { id, server, can } = useServer()
  const mayOpen = can('file.read-content') && !isBlocked(server)
  const open = useEffectEvent(
    (file: string) =>
      void navigate({ to: '/server/$server/files/edit', params: { server: id }, search: { file } }),
  )
  useEffect(() => terminal?.setOpenFile(mayOpen ? (file) => open(file) : null), [terminal, mayOpen])
}
