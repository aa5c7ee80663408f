import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import type { presentSecurity, presentSessions } from '../../surfaces/browser/resources/security.ts'
import { request } from './request.ts'

export type Security = ReturnType<typeof presentSecurity>
export type Passkey = Security['passkeys'][number]
export type Identity = Security['identities'][number]
export type OwnSession = ReturnType<typeof presentSessions>['sessions'][number]

const base = '/account/security'

/** How the reader signs in besides his password. What came of linking is told once. */
export const securityQuery = queryOptions({
  queryKey: ['security'],
  queryFn: ({ signal }) => request<Security>('GET', base, { signal }),
})

export const creationOptions = (current_password: string) =>
  request<PublicKeyCredentialCreationOptionsJSON>('POST', `${base}/passkeys/options`, {
    body: { current_password },
  })

/** What the panel knows of ways to reach an authenticator. */
const transports = new Set(['usb', 'nfc', 'ble', 'internal', 'hybrid', 'smart-card'])

export const addPasskey = (name: string, { id, response }: RegistrationResponseJSON) =>
  request<void>('POST', `${base}/passkeys`, {
    body: {
      id,
      name,
      response: {
        clientDataJSON: response.clientDataJSON,
        attestationObject: response.attestationObject,
        transports: (response.transports ?? []).filter((transport) => transports.has(transport)),
      },
    },
  })

export const removePasskey = (id: number, current_password: string) =>
  request<void>('DELETE', `${base}/passkeys/${id}`, { body: { current_password } })

/** Where to go to link an account at this provider. */
export const beginLink = (provider: string, current_password: string) =>
  request<{ redirect: string }>('POST', `${base}/oauth/${encodeURIComponent(provider)}`, {
    body: { current_password },
  })

export const unlink = (id: number, current_password: string) =>
  request<void>('DELETE', `${base}/oauth/${id}`, { body: { current_password } })

export const sessionsQuery = queryOptions({
  queryKey: ['security', 'sessions'],
  queryFn: ({ signal }) =>
    request<{ sessions: OwnSession[] }>('GET', `${base}/sessions`, { signal }).then(
      ({ sessions }) => sessions,
    ),
})

export const endSession = (id: string) => request<void>('DELETE', `${base}/sessions/${id}`)

export const endOtherSessions = () => request<void>('DELETE', `${base}/sessions`)
