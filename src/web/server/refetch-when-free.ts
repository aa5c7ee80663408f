import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useServer } from './server-context.tsx'
import { isBlocked } from './server-state.ts'

/** What is shown of the server is asked for again once nothing is in its way: until then it was refused. */
export function useRefetchWhenFree(): void {
  const { id, server } = useServer()
  const queries = useQueryClient()
  const blocked = isBlocked(server)
  const wasBlocked = useRef(blocked)
  useEffect(() => {
    if (wasBlocked.current && !blocked) void queries.invalidateQueries({ queryKey: ['server', id] })
    wasBlocked.current = blocked
  }, [blocked, id, queries])
}
