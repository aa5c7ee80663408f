import { useSyncExternalStore } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'roost.theme'
const dark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

function storedTheme(): Theme {
  const value = localStorage.getItem(key)
  return themes.find((theme) => theme === value) ?? 'system'
}

/** Colours of the top bar, which browsers continue around the page; those of `--surface`. */
const barColours = { light: '#ffffff', dark: '#161c19' }

const isDark = () => storedTheme() === 'dark' || (storedTheme() === 'system' && dark.matches)

function applyTheme(): void {
  const theme = isDark() ? 'dark' : 'light'
  document.documentElement.dataset.theme = theme
  document.querySelector('meta[name=theme-color]')?.setAttribute('content', barColours[theme])
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Applies the stored theme, and follows the system while none is chosen. */
export function startTheme(): void {
  dark.addEventListener('change', applyTheme)
  addEventListener('storage', (event) => {
    if (event.key === key) applyTheme()
  })
  applyTheme()
}

/** Stores and applies a theme, in all open tabs. */
export function setTheme(theme: Theme): void {
  localStorage.setItem(key, theme)
  applyTheme()
}

/** Returns the chosen theme. */
export const useTheme = (): Theme => useSyncExternalStore(subscribe, storedTheme)

/** Whether the page is dark now, for components that draw with their own colours. */
export const useIsDark = (): boolean => useSyncExternalStore(subscribe, isDark)
