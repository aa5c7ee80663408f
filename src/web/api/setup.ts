import { type PublicKeyCredentialCreationOptionsJSON, startRegistration } from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import { deviceName } from '../account/device-name.ts'
import { abortedBy, browserApi, json } from './client.ts'
import { passkeyResponse } from './security.ts'

const { setup } = browserApi.auth

/** Whether the panel has no user yet, and whether the first one can use a passkey. */
export const setupStateQuery = queryOptions({
  queryKey: ['setup-state'],
  queryFn: async ({ signal }) => (await json(setup.state.$get({}, abortedBy(signal)))).data,
})

type Account = { code: string; username: string; email: string }

/** Makes the first administrator with a password, and signs in. */
export const setUpWithPassword = (
  account: Account,
  passwords: { password: string; password_confirmation: string },
) => json(setup.$post({ json: { ...account, ...passwords } }))

/** Makes a demo in place of the set-up, and signs in. */
export const chooseDemo = (code: string) => json(setup.demo.$post({ json: { code } }))

/** Has the browser create a passkey, makes the first administrator with it, and signs in. */
export async function setUpWithPasskey(account: Account) {
  const options = await json(setup.passkey.options.$post({ json: account }))
  const created = await startRegistration({
    optionsJSON: options as PublicKeyCredentialCreationOptionsJSON,
  })
  const name = (deviceName(navigator.userAgent) ?? account.username).slice(0, 100)
  return json(setup.$post({ json: { ...account, passkey: { ...passkeyResponse(created), name } } }))
}
