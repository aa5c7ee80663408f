import { queryOptions } from '@tanstack/react-query'
import type { languageChoices } from '../../domain/languages.ts'
import type { AccountResource } from '../../surfaces/client/resources/account.ts'
import type { ApiKeyResource } from '../../surfaces/client/resources/api-key.ts'
import type { EmailAddressResource } from '../../surfaces/client/resources/email-address.ts'
import type { SshKeyResource } from '../../surfaces/client/resources/ssh-key.ts'
import { abortedBy, clientApi, done, json } from './client.ts'
import { attributesOf, type AttributesOf, rowsOf } from './resources.ts'

export type Account = AttributesOf<typeof AccountResource>
export type EmailAddress = AttributesOf<typeof EmailAddressResource>
export type ApiKey = AttributesOf<typeof ApiKeyResource>
export type LanguageChoice = (typeof languageChoices)[number]
export type SshKey = AttributesOf<typeof SshKeyResource>

const { account } = clientApi

/** The account of the user. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => json(account.$get({}, abortedBy(signal))).then(attributesOf),
})

export const changeEmail = (form: { email: string; password: string }) =>
  done(account.email.$put({ json: form }))

/** The address of the account, whether it is verified, and the one that waits for its link. */
export const emailAddressQuery = queryOptions({
  queryKey: ['account', 'email'],
  queryFn: ({ signal }) => json(account.email.$get({}, abortedBy(signal))).then(attributesOf),
})

/** Mails another link for the address that waits for one. */
export const sendEmailLink = () => done(account.email.resend.$post())

/** Verifies an address with the token of a mailed link. */
export const verifyEmail = (token: string) => done(account.email.verify.$post({ json: { token } }))

export const cancelEmailChange = () => done(account.email.pending.$delete())

export const changePassword = (form: {
  current_password: string
  password: string
  password_confirmation: string
}) => done(account.password.$put({ json: form }))

/** Replaces the avatar of the account; at most 2 MiB. */
export function changeAvatar(picture: Blob): Promise<Account> {
  const avatar = new File([picture], `avatar.${picture.type.split('/')[1]}`, { type: picture.type })
  return json(account.avatar.$post({ form: { avatar } })).then(attributesOf)
}

export const removeAvatar = (): Promise<Account> => json(account.avatar.$delete()).then(attributesOf)

export const changePrivacy = (blur: boolean): Promise<Account> =>
  json(account.privacy.$put({ json: { blur_sensitive_data: blur } })).then(attributesOf)

export const changeLanguage = (language: LanguageChoice) =>
  json(account.language.$put({ json: { language } }))

/** Creates a secret for an authenticator; one created before is no longer valid. */
export async function setUpTwoFactor(): Promise<{ uri: string; secret: string }> {
  const { data } = await json(account['two-factor'].$get())
  return { uri: data.image_url_data, secret: data.secret }
}

/** Turns on two-factor authentication. Returns the recovery tokens, which are shown only once. */
export const enableTwoFactor = async (form: { code: string; password: string }): Promise<string[]> =>
  (await json(account['two-factor'].$post({ json: form }))).attributes.tokens

export const disableTwoFactor = (password: string) =>
  done(account['two-factor'].disable.$post({ json: { password } }))

/** Replaces the recovery tokens: those from before are no longer valid. */
export const regenerateTokens = async (password: string): Promise<string[]> =>
  (await json(account['two-factor']['regenerate-tokens'].$post({ json: { password } }))).attributes.tokens

export const apiKeysQuery = queryOptions({
  queryKey: ['account', 'api-keys'],
  queryFn: ({ signal }) => json(account['api-keys'].$get({}, abortedBy(signal))).then(rowsOf),
})

/** Creates an API key. Returns the whole key, which is shown only once. */
export async function createApiKey(form: { description: string; allowed_ips: string[] }): Promise<string> {
  const { attributes, meta } = await json(account['api-keys'].$post({ json: form }))
  return attributes.identifier + meta.secret_token
}

export const deleteApiKey = (identifier: string) =>
  done(account['api-keys'][':identifier'].$delete({ param: { identifier } }))

export const sshKeysQuery = queryOptions({
  queryKey: ['account', 'ssh-keys'],
  queryFn: ({ signal }) => json(account['ssh-keys'].$get({}, abortedBy(signal))).then(rowsOf),
})

export const addSshKey = (form: { name: string; public_key: string }) =>
  done(account['ssh-keys'].$post({ json: form }))

export const removeSshKey = (fingerprint: string) =>
  done(account['ssh-keys'].remove.$post({ json: { fingerprint } }))
