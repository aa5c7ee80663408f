import { queryOptions } from '@tanstack/react-query'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import type { presentMethods } from '../../surfaces/browser/resources/sign-in-methods.ts'
import { request } from './request.ts'

export type SignInMethods = ReturnType<typeof presentMethods>

/** Signed in, or a second factor is asked for under this token. */
export type SignInAnswer =
  | { complete: true; intended: string }
  | { complete: false; confirmation_token: string }

/** What a captcha gave, under the name of its provider; empty without one. */
export type CaptchaResponse = Record<string, string>

/** The ways to sign in. What went wrong at a provider is told once, so the answer is kept. */
export const methodsQuery = (asksForCheckpoint: boolean) =>
  queryOptions({
    queryKey: ['sign-in-methods', asksForCheckpoint],
    queryFn: ({ signal }) =>
      request<SignInMethods>('GET', '/auth/methods', {
        query: { oauth: asksForCheckpoint ? 'checkpoint' : null },
        signal,
      }),
    staleTime: Infinity,
  })

const signIn = async (path: string, body: unknown): Promise<SignInAnswer> =>
  (await request<{ data: SignInAnswer }>('POST', path, { body })).data

export const signInWithPassword = (
  form: { user: string; password: string; remember: boolean },
  captcha: CaptchaResponse,
) => signIn('/auth/login', { ...form, ...captcha })

/** The proof is a code of the authenticator, or a recovery token. */
export const passCheckpoint = (
  confirmation_token: string,
  proof: { authentication_code: string } | { recovery_token: string },
) => signIn('/auth/login/checkpoint', { confirmation_token, ...proof })

export const passkeyOptions = () =>
  request<PublicKeyCredentialRequestOptionsJSON>('POST', '/auth/passkeys/options')

export const signInWithPasskey = ({ id, response }: AuthenticationResponseJSON) => {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  return signIn('/auth/passkeys/login', {
    id,
    response: { clientDataJSON, authenticatorData, signature, userHandle },
  })
}

export const register = (
  form: { username: string; email: string; password: string; password_confirmation: string },
  captcha: CaptchaResponse,
) => signIn('/auth/register', { ...form, ...captcha })

/** A link to a new password is on its way, if somebody has this address. */
export const requestPasswordReset = (email: string, captcha: CaptchaResponse) =>
  request<{ status: string }>('POST', '/auth/password', { body: { email, ...captcha } })

/** The account has a new password; `send_to_login` when its owner has to sign in with it himself. */
export const resetPassword = (form: {
  token: string
  email: string
  password: string
  password_confirmation: string
}) => request<{ redirect_to: string; send_to_login: boolean }>('POST', '/auth/password/reset', { body: form })
