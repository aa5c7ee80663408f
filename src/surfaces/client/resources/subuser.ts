import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { User } from '../../../db/tables/users.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'

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
  ({ user, permissions }: { user: User; permissions: string[] }) => ({
    uuid: user.uuid,
    username: user.username,
    email: user.email,
    image: pictureOf(user),
    '2fa_enabled': user.totpEnabledAt !== null,
    created_at: timestamp(user.createdAt),
    permissions,
  }),
)

/** The picture that Gravatar has for the address. */
const pictureOf = (user: Pick<User, 'email'>) =>
  `https://gravatar.com/avatar/${createHash('md5').update(user.email.trim().toLowerCase()).digest('hex')}`
