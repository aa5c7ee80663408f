import * as z from 'zod'
import type { User } from '../../../db/tables/users.ts'
import type { SignIn } from '../../../domain/auth/login.ts'
import { timestamp, Timestamp } from '../../../http/resource.ts'

/** The signed-in user, as the browser application knows them. */
export const SignedInUser = () =>
  z.strictObject({
    uuid: z.uuid(),
    username: z.string(),
    email: z.string(),
    name_first: z.string(),
    name_last: z.string(),
    language: z.string(),
    root_admin: z.boolean(),
    use_totp: z.boolean(),
    gravatar: z.boolean(),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  })

/** Spec: postAuthLogin. */
export const SignInAnswer = () =>
  z.object({
    data: z.union([
      z.strictObject({ complete: z.literal(true), intended: z.string(), user: SignedInUser() }),
      z.strictObject({ complete: z.literal(false), confirmation_token: z.string() }),
    ]),
  })

export const presentUser = (user: User) => ({
  uuid: user.uuid,
  username: user.username,
  email: user.email,
  name_first: user.firstName,
  name_last: user.lastName,
  language: user.language,
  root_admin: user.rootAdmin,
  use_totp: user.totpEnabledAt !== null,
  gravatar: user.avatarKey === null,
  created_at: timestamp(user.createdAt),
  updated_at: timestamp(user.updatedAt),
})

/** Presents the outcome of signing in. */
export const presentSignIn = (outcome: SignIn): z.output<ReturnType<typeof SignInAnswer>> => ({
  data: outcome.complete
    ? { complete: true, intended: '/', user: presentUser(outcome.user) }
    : { complete: false, confirmation_token: outcome.confirmationToken },
})
