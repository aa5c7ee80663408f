import * as z from 'zod'
import type { User } from '../../../db/tables/users.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'
import { avatarUrl } from './avatar-url.ts'

/** The caller's own account. Spec: getClientAccount. */
export const AccountResource = resource(
  'user',
  () =>
    z.object({
      id: z.int(),
      uuid: z.uuid(),
      admin: z.boolean(),
      root_admin: z.boolean(),
      username: z.string(),
      email: z.string(),
      first_name: z.string(),
      last_name: z.string(),
      language: z.string(),
      image: z.url(),
      '2fa_enabled': z.boolean(),
      blur_sensitive_data: z.boolean(),
      created_at: Timestamp(),
      updated_at: Timestamp(),
    }),
  ({ user, panelUrl }: { user: User; panelUrl: string }) => ({
    id: user.id,
    uuid: user.uuid,
    admin: user.rootAdmin,
    root_admin: user.rootAdmin,
    username: user.username,
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    language: user.language,
    image: avatarUrl(user, panelUrl),
    '2fa_enabled': user.totpEnabledAt !== null,
    blur_sensitive_data: user.blurSensitiveData,
    created_at: timestamp(user.createdAt),
    updated_at: timestamp(user.updatedAt),
  }),
)

/** The language that the caller chose, and the locale it resolves to in this browser. */
export const LanguageChoice = () => z.object({ language: z.string(), locale: z.string() })
