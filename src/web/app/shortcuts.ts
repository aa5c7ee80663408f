import { useEffect, useEffectEvent } from 'react'

/** Single-key shortcuts can be turned off, since speech input can trigger them by accident. */
const key = 'roost.shortcuts'
export const areSingleKeysEnabled = (): boolean => localStorage.getItem(key) !== 'off'
export const setSingleKeysEnabled = (on: boolean): void => localStorage.setItem(key, on ? 'on' : 'off')

/** How long a second key is awaited after `g`. */
const secondKeyTimeoutMs = 1200

export type ShortcutHandlers = {
  onMenu: () => void
  onHelp: () => void
  /** Receives the key pressed after `g`. */
  onGo: (key: string) => void
}

const isTextInput = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  target.closest('input, textarea, select, [contenteditable], .xterm') !== null

const isDialogOpen = () => document.querySelector('[role=dialog], [role=alertdialog], [role=menu]') !== null

/** Registers the keyboard shortcuts that work on every page. */
export function useShortcuts({ onMenu, onHelp, onGo }: ShortcutHandlers): void {
  const handleKey = useEffectEvent((event: KeyboardEvent, isSecond: boolean) => {
    if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey) onMenu()
    else if (event.ctrlKey || event.metaKey || event.altKey) return
    else if (isTextInput(event.target) || isDialogOpen() || !areSingleKeysEnabled()) return
    else if (isSecond) onGo(event.key)
    else if (event.key === '?') onHelp()
    else if (event.key === '/') focusSearch()
    else return
    event.preventDefault()
  })
  useEffect(() => {
    let goPressedAt = 0
    const listener = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat) return
      handleKey(event, Date.now() - goPressedAt < secondKeyTimeoutMs)
      goPressedAt = event.key === 'g' ? Date.now() : 0
    }
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])
}

/** Focuses the search field of the page, if there is one. */
function focusSearch(): void {
  document.querySelector<HTMLElement>('[data-page-search]')?.focus()
}
