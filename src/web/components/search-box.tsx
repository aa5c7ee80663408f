import { Search } from 'lucide-react'
import { useRef, useState } from 'react'
import { classNames } from './class-names.ts'
import { controlStyle } from './field.tsx'

/** How long typing has to pause before the search starts. */
const searchDelayMs = 250

/** A search field of a page; `text` is what the address of the page says. */
export function SearchBox({
  label,
  text,
  onSearch,
  className,
}: {
  label: string
  text: string
  onSearch: (text: string) => void
  className?: string
}) {
  const [box, setBox] = useState({ text, sent: text, seen: text })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The URL changed, either by this field or by another link. Only another link replaces the text.
  if (box.seen !== text) setBox({ text: text === box.sent ? box.text : text, sent: text, seen: text })
  const change = (text: string) => {
    setBox({ ...box, text })
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      setBox((now) => ({ ...now, sent: text }))
      onSearch(text)
    }, searchDelayMs)
  }
  return (
    <div className={classNames('relative min-w-0', className)}>
      <Search aria-hidden className="pointer-events-none absolute top-2.5 start-3 size-4 text-muted" />
      <input
        type="search"
        data-page-search
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder={label}
        value={box.text}
        onChange={({ target }) => change(target.value)}
        autoComplete="off"
        spellCheck={false}
        className={`${controlStyle} ps-9`}
      />
    </div>
  )
}
