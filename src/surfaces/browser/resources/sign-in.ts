import * as z from 'zod'
import type { User } from '../../../db/tables/users.ts'
import type { SignIn } from '../../../domain/login.ts'
import { timestamp, Timestamp } from '../../../http/resource.ts'

/** Whoever is signed in, as the browser application knows him. */
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

/** Spec: Browser authentication, login response. */
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

/** The outcome of a way of signing in. */
export const presentSignIn = (outcome: SignIn) => ({
  data: outcome.complete
    ? { complete: true, intended: '/', user: presentUser(outcome.user) }
    : { complete: false, confirmation_token: outcome.confirmationToken },
})
