import { useCallback, useEffect, useState } from 'react'

const operationInHash = () => decodeURIComponent(location.hash.slice(1))

/** Keeps which operations are open: at first the one in the URL hash, which is scrolled into view. */
export function useOpenOperations(): [opened: ReadonlySet<string>, toggle: (id: string) => void] {
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => new Set([operationInHash()]))
  useEffect(() => {
    const openFromHash = () => {
      const id = operationInHash()
      if (id === '') return
      setOpened((before) => new Set([...before, id]))
      document.getElementById(id)?.scrollIntoView({ block: 'start' })
    }
    openFromHash()
    addEventListener('hashchange', openFromHash)
    return () => removeEventListener('hashchange', openFromHash)
  }, [])
  const toggle = useCallback((id: string) => {
    setOpened((before) => {
      const after = new Set(before)
      if (!after.delete(id)) after.add(id)
      return after
    })
  }, [])
  return [opened, toggle]
}
