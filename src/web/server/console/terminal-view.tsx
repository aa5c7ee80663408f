import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useIsDark } from '../../app/theme.ts'
import type { ConsoleLog } from './console-log.ts'
import { LogTerminal, type TerminalLook } from './terminal.ts'

type Props = { log: ConsoleLog; look: TerminalLook; onReady: (terminal: LogTerminal | null) => void }

/** The terminal in which a log is shown, as large as its place. */
export default function TerminalView({ log, look, onReady }: Props) {
  const { t } = useTranslation('console')
  const place = useRef<HTMLDivElement>(null)
  const [terminal, setTerminal] = useState<LogTerminal | null>(null)
  const isDark = useIsDark()
  const open = useEffectEvent((at: HTMLElement) => {
    const made = new LogTerminal(at, log, look, { label: t('output'), tooMuch: t('too_much') })
    setTerminal(made)
    onReady(made)
    return made
  })
  useEffect(() => {
    if (!place.current) return
    const made = open(place.current)
    const observer = new ResizeObserver(() => requestAnimationFrame(made.fit))
    observer.observe(place.current)
    return () => {
      observer.disconnect()
      onReady(null)
      made.dispose()
    }
  }, [log, onReady])
  useEffect(() => terminal?.setLook(look), [terminal, look])
  useEffect(() => terminal?.setTheme(), [terminal, isDark])
  return (
    <div
      className={
        look.wraps ? 'absolute inset-0 overflow-hidden' : 'absolute inset-0 overflow-x-auto overflow-y-hidden'
      }
    >
      {/* Its padding is not the terminal's place: as many rows are made as that is high. */}
      <div className="h-full py-2 pl-3">
        <div ref={place} className="h-full" />
      </div>
    </div>
  )
}
