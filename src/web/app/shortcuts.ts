import { useEffect, useEffectEvent } from 'react'

/** Keys that do something by themselves can be switched off: people who speak to their computer press them unawares. */
const key = 'roost.shortcuts'
export const areSingleKeysOn = (): boolean => localStorage.getItem(key) !== 'off'
export const switchSingleKeys = (on: boolean): void => localStorage.setItem(key, on ? 'on' : 'off')

/** After `g`, so long a second key is waited for, in milliseconds. */
const secondKeyWithin = 1200

export type ShortcutHandlers = {
  onMenu: () => void
  onHelp: () => void
  /** The key after `g`. */
  onGo: (key: string) => void
}

const isWriting = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  target.closest('input, textarea, select, [contenteditable], .xterm') !== null

const isDialogOpen = () => document.querySelector('[role=dialog], [role=alertdialog], [role=menu]') !== null

/** The keys that work on every page. */
export function useShortcuts({ onMenu, onHelp, onGo }: ShortcutHandlers): void {
  const press = useEffectEvent((event: KeyboardEvent, isSecond: boolean) => {
    if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey) onMenu()
    else if (event.ctrlKey || event.metaKey || event.altKey) return
    else if (isWriting(event.target) || isDialogOpen() || !areSingleKeysOn()) return
    else if (isSecond) onGo(event.key)
    else if (event.key === '?') onHelp()
    else if (event.key === '/') focusSearch()
    else return
    event.preventDefault()
  })
  useEffect(() => {
    let goAt = 0
    const listener = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat) return
      press(event, Date.now() - goAt < secondKeyWithin)
      goAt = event.key === 'g' ? Date.now() : 0
    }
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])
}

/** The search of the page, if it has one. */
function focusSearch(): void {
  document.querySelector<HTMLElement>('[data-page-search]')?.focus()
}
