import { queryOptions } from '@tanstack/react-query'
import type { AccountResource } from '../../surfaces/client/resources/account.ts'
import type { ApiKeyResource } from '../../surfaces/client/resources/api-key.ts'
import type { RecoveryTokensResource } from '../../surfaces/client/resources/two-factor.ts'
import type { SshKeyResource } from '../../surfaces/client/resources/ssh-key.ts'
import { request } from './request.ts'
import { type Item, type List, rowsOf, type Wire } from './resources.ts'

export type Account = Wire<typeof AccountResource>
export type ApiKey = Wire<typeof ApiKeyResource>
export type SshKey = Wire<typeof SshKeyResource>
type RecoveryTokens = Item<Wire<typeof RecoveryTokensResource>>

const base = '/api/client/account'

/** The reader's own account. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => request<Item<Account>>('GET', base, { signal }).then(attributesOf),
})

const attributesOf = <Attributes>({ attributes }: Item<Attributes>) => attributes

export const changeEmail = (form: { email: string; password: string }) =>
  request<void>('PUT', `${base}/email`, { body: form })

export const changePassword = (form: {
  current_password: string
  password: string
  password_confirmation: string
}) => request<void>('PUT', `${base}/password`, { body: form })

/** The account has this picture from now on; at most 2 MiB. */
export async function changeAvatar(picture: Blob): Promise<Account> {
  const body = new FormData()
  body.set('avatar', picture, `avatar.${picture.type.split('/')[1]}`)
  return attributesOf(await request<Item<Account>>('POST', `${base}/avatar`, { body }))
}

export const removeAvatar = () => request<Item<Account>>('DELETE', `${base}/avatar`).then(attributesOf)

export const changePrivacy = (blur: boolean) =>
  request<Item<Account>>('PUT', `${base}/privacy`, { body: { blur_sensitive_data: blur } }).then(attributesOf)

export const changeLanguage = (language: string) =>
  request<{ language: string; locale: string }>('PUT', `${base}/language`, { body: { language } })

/** A new secret for an authenticator; whatever was asked for before counts no more. */
export const setUpTwoFactor = () =>
  request<{ data: { image_url_data: string; secret: string } }>('GET', `${base}/two-factor`).then(
    ({ data }) => ({ uri: data.image_url_data, secret: data.secret }),
  )

const tokensOf = ({ attributes }: RecoveryTokens) => attributes.tokens

/** Gives the recovery tokens, which nobody shows again. */
export const enableTwoFactor = (form: { code: string; password: string }) =>
  request<RecoveryTokens>('POST', `${base}/two-factor`, { body: form }).then(tokensOf)

export const disableTwoFactor = (password: string) =>
  request<void>('POST', `${base}/two-factor/disable`, { body: { password } })

/** The recovery tokens before count no more. */
export const regenerateTokens = (password: string) =>
  request<RecoveryTokens>('POST', `${base}/two-factor/regenerate-tokens`, { body: { password } }).then(
    tokensOf,
  )

export const apiKeysQuery = queryOptions({
  queryKey: ['account', 'api-keys'],
  queryFn: ({ signal }) => request<List<ApiKey>>('GET', `${base}/api-keys`, { signal }).then(rowsOf),
})

/** Gives the whole key, which nobody shows again. */
export async function createApiKey(form: { description: string; allowed_ips: string[] }): Promise<string> {
  const { attributes, meta } = await request<Item<ApiKey> & { meta: { secret_token: string } }>(
    'POST',
    `${base}/api-keys`,
    { body: form },
  )
  return attributes.identifier + meta.secret_token
}

export const deleteApiKey = (identifier: string) => request<void>('DELETE', `${base}/api-keys/${identifier}`)

export const sshKeysQuery = queryOptions({
  queryKey: ['account', 'ssh-keys'],
  queryFn: ({ signal }) => request<List<SshKey>>('GET', `${base}/ssh-keys`, { signal }).then(rowsOf),
})

export const addSshKey = (form: { name: string; public_key: string }) =>
  request<Item<SshKey>>('POST', `${base}/ssh-keys`, { body: form })

export const removeSshKey = (fingerprint: string) =>
  request<void>('POST', `${base}/ssh-keys/remove`, { body: { fingerprint } })
