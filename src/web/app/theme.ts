import { useSyncExternalStore } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'roost.theme'
const dark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

function stored(): Theme {
  const value = localStorage.getItem(key)
  return themes.find((theme) => theme === value) ?? 'system'
}

const isDark = () => stored() === 'dark' || (stored() === 'system' && dark.matches)

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light'
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The page looks as was chosen on this device, and follows the system where nothing was. */
export function startTheme(): void {
  dark.addEventListener('change', apply)
  addEventListener('storage', (event) => {
    if (event.key === key) apply()
  })
  apply()
}

/** The look is this from now on, also in other tabs. */
export function setTheme(theme: Theme): void {
  localStorage.setItem(key, theme)
  apply()
}

/** What was chosen. */
export const useTheme = (): Theme => useSyncExternalStore(subscribe, stored)

/** Whether the page is dark now: for what draws with colours of its own. */
export const useIsDark = (): boolean => useSyncExternalStore(subscribe, isDark)
