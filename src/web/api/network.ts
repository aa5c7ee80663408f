import { queryOptions } from '@tanstack/react-query'
import { abortedBy, done, json, serverApi } from './client.ts'
import { type Allocation, attributesOf, rowsOf } from './resources.ts'

const { allocations } = serverApi.network

export const allocationsKey = (server: string) => ['server', server, 'allocations'] as const

/** The allocations of a server, by address and port. */
export const allocationsQuery = (server: string) =>
  queryOptions({
    queryKey: allocationsKey(server),
    queryFn: ({ signal }) => json(allocations.$get({ param: { server } }, abortedBy(signal))).then(rowsOf),
  })

const paramOf = (server: string, id: number) => ({ server, allocation: String(id) })

/** Adds a free allocation of the node to the server. */
export const addAllocation = (server: string): Promise<Allocation> =>
  json(allocations.$post({ param: { server } })).then(attributesOf)

export const changeAllocationNotes = (server: string, id: number, notes: string) =>
  done(allocations[':allocation'].$post({ param: paramOf(server, id), json: { notes } }))

/** Makes an allocation the primary one; the game uses it from its next start. */
export const makeAllocationPrimary = (server: string, id: number) =>
  done(allocations[':allocation'].primary.$post({ param: paramOf(server, id) }))

export const removeAllocation = (server: string, id: number) =>
  done(allocations[':allocation'].$delete({ param: paramOf(server, id) }))
