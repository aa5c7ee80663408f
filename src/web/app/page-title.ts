import { useEffect } from 'react'
import { site } from './site.ts'

/** Sets the title of the document and announces it to screen readers. */
export function usePageTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter(Boolean), site.name].join(' · ')
  useEffect(() => {
    document.title = title
    const announcer = document.getElementById('route-announcer')
    if (announcer) announcer.textContent = title
  }, [title])
}
