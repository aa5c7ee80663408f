import { queryOptions } from '@tanstack/react-query'
import type { InferRequestType } from 'hono/client'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import type { presentSignIn } from '../../surfaces/browser/resources/sign-in.ts'
import type { presentMethods } from '../../surfaces/browser/resources/sign-in-methods.ts'
import { abortedBy, browserApi, json } from './client.ts'

export type SignInMethods = ReturnType<typeof presentMethods>

/** Signed in, or a second factor is required under this token. */
export type SignInResult = ReturnType<typeof presentSignIn>['data']

const { auth } = browserApi

type LoginForm = InferRequestType<typeof auth.login.$post>['json']
/** The response of a captcha under the field name of its provider; empty without a captcha. */
export type CaptchaResponse = Partial<Record<Extract<keyof LoginForm, `${string}-response`>, string>>

/** The sign-in methods. The panel reports an error of a provider only once, so the answer is kept. */
export const methodsQuery = (isCheckpoint: boolean) =>
  queryOptions({
    queryKey: ['sign-in-methods', isCheckpoint],
    queryFn: ({ signal }) =>
      json(auth.methods.$get({ query: { oauth: isCheckpoint ? 'checkpoint' : null } }, abortedBy(signal))),
    staleTime: Infinity,
  })

/** Returns the path of the sign-in with a provider; the user comes back to `intended`. */
export const providerPath = (
  provider: SignInMethods['providers'][number]['id'],
  intended: string | undefined,
) => auth.oauth[':provider'].$path({ param: { provider }, query: { intended } })

export const signInWithPassword = async (
  form: { user: string; password: string; remember: boolean },
  captcha: CaptchaResponse,
): Promise<SignInResult> => (await json(auth.login.$post({ json: { ...form, ...captcha } }))).data

/** Completes the two-factor checkpoint with a code of the authenticator or a recovery token. */
export const passCheckpoint = async (
  confirmation_token: string,
  proof: { authentication_code: string } | { recovery_token: string },
): Promise<SignInResult> =>
  (await json(auth.login.checkpoint.$post({ json: { confirmation_token, ...proof } }))).data

export const passkeyOptions = async () =>
  (await json(auth.passkeys.options.$post())) as PublicKeyCredentialRequestOptionsJSON

export const signInWithPasskey = async ({
  id,
  response,
}: AuthenticationResponseJSON): Promise<SignInResult> => {
  const { clientDataJSON, authenticatorData, signature, userHandle = '' } = response
  const assertion = { id, response: { clientDataJSON, authenticatorData, signature, userHandle } }
  return (await json(auth.passkeys.login.$post({ json: assertion }))).data
}

export const register = async (
  form: { username: string; email: string; password: string; password_confirmation: string },
  captcha: CaptchaResponse,
): Promise<SignInResult> => (await json(auth.register.$post({ json: { ...form, ...captcha } }))).data

/** Asks the panel to send a password reset link, if an account has this address. */
export const requestPasswordReset = (email: string, captcha: CaptchaResponse) =>
  json(auth.password.$post({ json: { email, ...captcha } }))

/** Sets a new password; `send_to_login` is true when the user has to sign in with it. */
export const resetPassword = (form: {
  token: string
  email: string
  password: string
  password_confirmation: string
}) => json(auth.password.reset.$post({ json: form }))
