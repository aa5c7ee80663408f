import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useIsDark } from '../../app/theme.ts'
import type { ConsoleLog } from './console-log.ts'
import { LogTerminal, type TerminalOptions } from './terminal.ts'

type Props = { log: ConsoleLog; options: TerminalOptions; onReady: (terminal: LogTerminal | null) => void }

/** Shows a log in a terminal that fills its container. */
export default function TerminalView({ log, options, onReady }: Props) {
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
  return (
    <div
      className={
        options.wraps
          ? 'absolute inset-0 overflow-hidden'
          : 'absolute inset-0 overflow-x-auto overflow-y-hidden'
      }
    >
      {/* The padding is outside the container, since the terminal fits its rows to the container's height. */}
      <div className="h-full py-2 pl-3">
        <div ref={container} className="h-full" />
      </div>
    </div>
  )
}
