import * as z from 'zod'
import type { User } from '../../../db/tables/users.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'
import { pictureOf } from './picture.ts'

/** A person as others see him. */
export const PersonResource = resource(
  'user',
  () =>
    z.object({
      uuid: z.uuid(),
      username: z.string(),
      email: z.string(),
      image: z.url(),
      '2fa_enabled': z.boolean(),
      created_at: Timestamp(),
    }),
  ({ user, panelUrl }: { user: User; panelUrl: string }) => ({
    uuid: user.uuid,
    username: user.username,
    email: user.email,
    image: pictureOf(user, panelUrl),
    '2fa_enabled': user.totpEnabledAt !== null,
    created_at: timestamp(user.createdAt),
  }),
)
