import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { IconButton } from '../../components/button.tsx'
import { controlStyle } from '../../components/field.tsx'
import type { SearchResult, LogTerminal } from './terminal.ts'

/** Searches the console output, newest line first. */
export function FindBar({ terminal, onClose }: { terminal: LogTerminal | null; onClose: () => void }) {
  const { t } = useTranslation('console')
  const [text, setText] = useState('')
  const [result, setResult] = useState<SearchResult | null>(null)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    const unsubscribe = terminal?.onSearchResult(setResult)
    return () => {
      unsubscribe?.()
      terminal?.clearSearch()
    }
  }, [terminal])
  const find = (isBackward: boolean) => void terminal?.find(text, isBackward, false)
  const search = (next: string) => {
    setText(next)
    void terminal?.find(next, true, true)
  }
  const count = result?.count ?? 0
  return (
    <search className="flex items-center gap-1 border-b border-line bg-canvas p-1.5">
      <input
        ref={field}
        type="text"
        aria-label={t('find')}
        placeholder={t('find')}
        value={text}
        onChange={({ target }) => search(target.value)}
        onKeyDown={({ key, shiftKey }) => {
          if (key === 'Enter') find(!shiftKey)
          if (key === 'Escape') onClose()
        }}
        autoComplete="off"
        spellCheck={false}
        className={controlStyle}
      />
      <span
        role="status"
        className="min-w-20 px-1 text-center text-xs whitespace-nowrap text-muted tabular-nums"
      >
        {text === '' ? '' : count === 0 ? t('found_none') : t('found', { at: result?.at, count })}
      </span>
      <IconButton icon={ChevronUp} label={t('find_previous')} onClick={() => find(true)} />
      <IconButton icon={ChevronDown} label={t('find_next')} onClick={() => find(false)} />
      <IconButton icon={X} label={t('find_close')} onClick={onClose} />
    </search>
  )
}
