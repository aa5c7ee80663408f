import { queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'
import { type Allocation, type Item, type List, rowsOf } from './resources.ts'

export const allocationsKey = (server: string) => ['server', server, 'allocations'] as const
const pathOf = (server: string, rest = '') => `/api/client/servers/${server}/network/allocations${rest}`

/** The addresses of a server, by address and port. */
export const allocationsQuery = (server: string) =>
  queryOptions({
    queryKey: allocationsKey(server),
    queryFn: async ({ signal }) => rowsOf(await request<List<Allocation>>('GET', pathOf(server), { signal })),
  })

/** The server has one more free address of its node. */
export const addAllocation = (server: string) => request<Item<Allocation>>('POST', pathOf(server))

export const changeAllocationNotes = (server: string, id: number, notes: string) =>
  request<Item<Allocation>>('POST', pathOf(server, `/${id}`), { body: { notes } })

/** The game listens here from its next start on. */
export const makeAllocationPrimary = (server: string, id: number) =>
  request<Item<Allocation>>('POST', pathOf(server, `/${id}/primary`))

export const removeAllocation = (server: string, id: number) =>
  request<void>('DELETE', pathOf(server, `/${id}`))
