import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useServer } from './server-context.tsx'
import { isBlocked } from './server-state.ts'

/** Refetches the data of the server once it is no longer blocked, since requests were refused until then. */
export function useRefetchWhenUnblocked(): void {
  const { id, server } = useServer()
  const queries = useQueryClient()
  const blocked = isBlocked(server)
  const wasBlocked = useRef(blocked)
  useEffect(() => {
    if (wasBlocked.current && !blocked) void queries.invalidateQueries({ queryKey: ['server', id] })
    wasBlocked.current = blocked
  }, [blocked, id, queries])
}
