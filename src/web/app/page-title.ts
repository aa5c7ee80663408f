import { useEffect } from 'react'
import { site } from './site.ts'

/** The browser's tab and readers of screens know which page this is. */
export function usePageTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter(Boolean), site.name].join(' · ')
  useEffect(() => {
    document.title = title
    const announcer = document.getElementById('route-announcer')
    if (announcer) announcer.textContent = title
  }, [title])
}
