import * as z from 'zod'
import type { User } from '../../../db/tables/users.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'
import { pictureOf } from './picture.ts'

/** A person with access to a server, as the others see him. */
export const SubuserResource = resource(
  'server_subuser',
  () =>
    z.object({
      uuid: z.uuid(),
      username: z.string(),
      email: z.string(),
      image: z.url(),
      '2fa_enabled': z.boolean(),
      created_at: Timestamp(),
      permissions: z.array(z.string()),
    }),
  ({ user, permissions, panelUrl }: { user: User; permissions: string[]; panelUrl: string }) => ({
    uuid: user.uuid,
    username: user.username,
    email: user.email,
    image: pictureOf(user, panelUrl),
    '2fa_enabled': user.totpEnabledAt !== null,
    created_at: timestamp(user.createdAt),
    permissions,
  }),
)
