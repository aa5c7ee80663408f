import { useCallback, useEffect, useRef, useState } from 'react'
import type { OpenDialog } from './files-context.tsx'

/** Keeps which dialog is open, and restores the focus when it closes, also when a menu opened it. */
export function useDialog() {
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const opener = useRef<HTMLElement | null>(null)
  const open = useCallback((next: OpenDialog) => {
    const active = document.activeElement
    // Menu items disappear with the menu, so its button is focused instead.
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
    // Runs after the dialog's own attempt to restore the focus.
    if (element) setTimeout(() => element.focus())
  }, [dialog])
  return { dialog, open, close }
}
