import { queryOptions } from '@tanstack/react-query'
import type { PermissionCatalogueResource } from '../../surfaces/client/resources/permission-catalogue.ts'
import type { SubuserResource } from '../../surfaces/client/resources/subuser.ts'
import { request } from './request.ts'
import { type Item, type List, rowsOf, type Wire } from './resources.ts'

export type Subuser = Wire<typeof SubuserResource>
export type PermissionGroups = Wire<typeof PermissionCatalogueResource>['permissions']

export const subusersKey = (server: string) => ['server', server, 'subusers'] as const
const pathOf = (server: string, user = '') => `/api/client/servers/${server}/users${user && `/${user}`}`

/** Who was let into a server. */
export const subusersQuery = (server: string) =>
  queryOptions({
    queryKey: subusersKey(server),
    queryFn: async ({ signal }) => rowsOf(await request<List<Subuser>>('GET', pathOf(server), { signal })),
  })

/** Every permission there is, by group. */
export const permissionsQuery = queryOptions({
  queryKey: ['permissions'],
  staleTime: Infinity,
  queryFn: async ({ signal }) =>
    (await request<Item<{ permissions: PermissionGroups }>>('GET', '/api/client/permissions', { signal }))
      .attributes.permissions,
})

/** Somebody is let in; whoever has no account is invited by mail. */
export const addSubuser = (server: string, email: string, permissions: string[]) =>
  request<Item<Subuser>>('POST', pathOf(server), { body: { email, permissions } })

export const changeSubuser = (server: string, user: string, permissions: string[]) =>
  request<Item<Subuser>>('POST', pathOf(server, user), { body: { permissions } })

/** He is out, also of what he has open. */
export const removeSubuser = (server: string, user: string) => request<void>('DELETE', pathOf(server, user))
