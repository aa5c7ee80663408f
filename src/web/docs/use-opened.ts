import { useCallback, useEffect, useState } from 'react'

const named = () => decodeURIComponent(location.hash.slice(1))

/** Which operations are open: the one in the address at first, which then is brought into view. */
export function useOpened(): [opened: ReadonlySet<string>, toggle: (id: string) => void] {
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => new Set([named()]))
  useEffect(() => {
    const follow = () => {
      const id = named()
      if (id === '') return
      setOpened((before) => new Set([...before, id]))
      document.getElementById(id)?.scrollIntoView({ block: 'start' })
    }
    follow()
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
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
