import * as z from 'zod'
import type { User } from '../../../db/tables/users.ts'
import { resource } from '../../../http/resource.ts'
import { PublicUser, PublicUserResource } from './public-user.ts'

/** A subuser of a server, as other users see them. */
export const SubuserResource = resource(
  'server_subuser',
  () =>
    PublicUser().extend({
      permissions: z.array(z.string()),
      pending: z
        .literal(true)
        .optional()
        .describe('Present while the user has no access, because they have not verified their address.'),
    }),
  ({
    permissions,
    pending,
    ...shown
  }: {
    user: User
    permissions: string[]
    pending: boolean
    panelUrl: string
  }) => ({
    ...PublicUserResource.attributes(shown),
    permissions,
    ...(pending ? { pending } : {}),
  }),
)
