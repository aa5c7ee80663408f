import * as z from 'zod'
import type { SignInMethods } from '../../../domain/auth/sign-in-methods.ts'

/** A provider as the sign-in page shows it. */
export const PublicProviderShape = () => z.strictObject({ id: z.string(), name: z.string() })

/** Spec: getAuthMethods. */
export const MethodsAnswer = () =>
  z.strictObject({
    passwords_enabled: z.boolean(),
    registration_enabled: z.boolean(),
    passkeys_enabled: z.boolean(),
    providers: z.array(PublicProviderShape()),
    confirmation_token: z.string().nullable(),
    error: z.string().nullable(),
  })

export const presentMethods = (methods: SignInMethods) => ({
  passwords_enabled: methods.passwordsEnabled,
  registration_enabled: methods.registrationEnabled,
  passkeys_enabled: methods.passkeysEnabled,
  providers: methods.providers,
  confirmation_token: methods.confirmationToken,
  error: methods.error,
})
