import { queryOptions } from '@tanstack/react-query'
import type { PermissionsResource } from '../../surfaces/client/resources/permissions.ts'
import type { SubuserResource } from '../../surfaces/client/resources/subuser.ts'
import { abortedBy, clientApi, done, json, serverApi } from './client.ts'
import { attributesOf, type AttributesOf, rowsOf } from './resources.ts'

export type Subuser = AttributesOf<typeof SubuserResource>
export type PermissionGroups = AttributesOf<typeof PermissionsResource>['permissions']

const { users } = serverApi

export const subusersKey = (server: string) => ['server', server, 'subusers'] as const

/** The subusers of a server. */
export const subusersQuery = (server: string) =>
  queryOptions({
    queryKey: subusersKey(server),
    queryFn: ({ signal }) => json(users.$get({ param: { server } }, abortedBy(signal))).then(rowsOf),
  })

/** Every permission that a subuser can have, by group. */
export const permissionsQuery = queryOptions({
  queryKey: ['permissions'],
  staleTime: Infinity,
  queryFn: async ({ signal }) =>
    (await json(clientApi.permissions.$get({}, abortedBy(signal)))).attributes.permissions,
})

/** Adds a subuser; an address without an account is invited by mail. */
export const addSubuser = (server: string, email: string, permissions: string[]): Promise<Subuser> =>
  json(users.$post({ param: { server }, json: { email, permissions } })).then(attributesOf)

export const changeSubuser = (server: string, user: string, permissions: string[]): Promise<Subuser> =>
  json(users[':user'].$post({ param: { server, user }, json: { permissions } })).then(attributesOf)

/** Removes a subuser; their open connections end, too. */
export const removeSubuser = (server: string, user: string) =>
  done(users[':user'].$delete({ param: { server, user } }))
