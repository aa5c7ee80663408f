import { useCallback, useEffect, useRef, useState } from 'react'
import type { OpenDialog } from './files-context.tsx'

/** Which question is open. Once it is closed, the focus is where it was, also when a menu had opened it. */
export function useDialog() {
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const opener = useRef<HTMLElement | null>(null)
  const open = useCallback((next: OpenDialog) => {
    const active = document.activeElement
    // The items of a menu are gone with it, but not the button that it belongs to.
    const button = active?.closest('[role=menu]')?.getAttribute('aria-labelledby')
    const element = button ? document.getElementById(button) : active
    opener.current = element instanceof HTMLElement ? element : null
    setDialog(next)
  }, [])
  const close = useCallback(() => setDialog(null), [])
  useEffect(() => {
    if (dialog) return
    const element = opener.current
    opener.current = null
    // After the dialog has tried to give the focus back by itself.
    if (element) setTimeout(() => element.focus())
  }, [dialog])
  return { dialog, open, close }
}
