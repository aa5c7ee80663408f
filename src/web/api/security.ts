import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import type { presentSecurity, presentSessions } from '../../surfaces/browser/resources/security.ts'
import { abortedBy, browserApi, done, json } from './client.ts'

export type Security = ReturnType<typeof presentSecurity>
export type Passkey = Security['passkeys'][number]
export type Identity = Security['identities'][number]
export type Provider = Security['providers'][number]['id']
export type OwnSession = ReturnType<typeof presentSessions>['sessions'][number]

const { security } = browserApi.account
const { passkeys, sessions } = security

/** The sign-in methods of the user besides the password. The panel reports the result of linking only once. */
export const securityQuery = queryOptions({
  queryKey: ['security'],
  queryFn: ({ signal }) => json(security.$get({}, abortedBy(signal))),
})

export const creationOptions = async (current_password: string) =>
  (await json(
    passkeys.options.$post({ json: { current_password } }),
  )) as PublicKeyCredentialCreationOptionsJSON

/** The transports that the panel accepts. */
const transports = ['usb', 'nfc', 'ble', 'internal', 'hybrid', 'smart-card'] as const

/** Returns what the panel takes of a passkey that the browser has created. */
export const passkeyResponse = ({ id, response }: RegistrationResponseJSON) => ({
  id,
  response: {
    clientDataJSON: response.clientDataJSON,
    attestationObject: response.attestationObject,
    transports: transports.filter((transport) => response.transports?.includes(transport)),
  },
})

export const addPasskey = (name: string, created: RegistrationResponseJSON) =>
  done(passkeys.$post({ json: { ...passkeyResponse(created), name } }))

export const removePasskey = (id: number, current_password: string) =>
  done(passkeys[':id'].$delete({ param: { id: String(id) }, json: { current_password } }))

/** Returns the address at which the user links an account of this provider. */
export const beginLink = (provider: Provider, current_password: string) =>
  json(security.oauth[':provider'].$post({ param: { provider }, json: { current_password } }))

export const unlink = (id: number, current_password: string) =>
  done(security.oauth[':id'].$delete({ param: { id: String(id) }, json: { current_password } }))

export const sessionsQuery = queryOptions({
  queryKey: ['security', 'sessions'],
  queryFn: async ({ signal }) => (await json(sessions.$get({}, abortedBy(signal)))).sessions,
})

export const endSession = (id: string) => done(sessions[':id'].$delete({ param: { id } }))

export const endOtherSessions = () => done(sessions.$delete())
