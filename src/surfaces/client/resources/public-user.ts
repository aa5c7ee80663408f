import * as z from 'zod'
import type { User } from '../../../db/tables/users.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'
import { avatarUrl } from './avatar-url.ts'

export const PublicUser = () =>
  z.object({
    uuid: z.uuid(),
    username: z.string(),
    email: z.string(),
    image: z.url(),
    '2fa_enabled': z.boolean(),
    created_at: Timestamp(),
  })

/** A user as other users see them. */
export const PublicUserResource = resource(
  'user',
  PublicUser,
  ({ user, panelUrl }: { user: User; panelUrl: string }) => ({
    uuid: user.uuid,
    username: user.username,
    email: user.email,
    image: avatarUrl(user, panelUrl),
    '2fa_enabled': user.totpEnabledAt !== null,
    created_at: timestamp(user.createdAt),
  }),
)
