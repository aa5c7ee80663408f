import type {
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import * as z from 'zod'
import type { Passkey } from '../../db/tables/passkeys.ts'
import type { User } from '../../db/tables/users.ts'
import type { RelyingParty } from './relying-party.ts'

/** What a browser needs to make a passkey, or to use one. */
export type CreationOptions = PublicKeyCredentialCreationOptionsJSON
export type RequestOptions = PublicKeyCredentialRequestOptionsJSON

/** A passkey as it is stored: key and id in base64url. */
export type Credential = Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'>

/** EdDSA, ES256 and RS256, by their COSE numbers. */
const algorithms = [-8, -7, -257]
/** Bytes of a public key: twice what the largest of those algorithms needs. */
const largestKey = 2048
/** Seconds within which a browser has to answer. */
export const challengeSeconds = 300

const base64url = (maximum: number) =>
  z
    .string()
    .max(maximum, 'max')
    .regex(/^[\w-]+$/, 'regex')

/** Spec: POST /auth/passkeys/login. */
export const AssertionInput = () =>
  z.object({
    id: base64url(2048),
    response: z.object({
      clientDataJSON: base64url(8192),
      authenticatorData: base64url(8192),
      signature: base64url(2048),
      userHandle: base64url(256),
    }),
  })
export type AssertionInput = z.output<ReturnType<typeof AssertionInput>>

/** What the browser says of a new passkey. Spec: POST /account/security/passkeys. */
export const attestationFields = () => ({
  id: base64url(2048),
  response: z.object({
    clientDataJSON: base64url(8192),
    attestationObject: base64url(131_072),
    transports: z
      .array(z.enum(['usb', 'nfc', 'ble', 'internal', 'hybrid', 'smart-card']))
      .max(8, 'max')
      .nullish(),
  }),
})
type Attestation = z.output<z.ZodObject<ReturnType<typeof attestationFields>>>

/** Loaded with the first passkey: most requests need none of it. */
const library = () => import('@simplewebauthn/server')
const helpers = () => import('@simplewebauthn/server/helpers')

/** How authenticators name the account; it tells nothing about the person. */
export const handleOf = ({ uuid }: Pick<User, 'uuid'>): string => Buffer.from(uuid).toString('base64url')

/** Asks for a passkey that names its account by itself and knows its user: it stands in for name and password. */
export async function creationOptions(
  party: RelyingParty,
  panelName: string,
  user: User,
  held: Passkey[],
): Promise<CreationOptions> {
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpName: panelName,
    rpID: party.id,
    userName: user.username,
    userDisplayName: `${user.firstName} ${user.lastName}`.trim(),
    userID: new TextEncoder().encode(user.uuid),
    timeout: challengeSeconds * 1000,
    attestationType: 'none',
    excludeCredentials: held.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: transports as AuthenticatorTransport[],
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  })
}

/** Asks for any passkey of this panel: the browser shows those it has. */
export async function requestOptions(party: RelyingParty): Promise<RequestOptions> {
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({
    rpID: party.id,
    timeout: challengeSeconds * 1000,
    userVerification: 'required',
  })
}

/**
 * The passkey that was made for this challenge, on a page of ours, by somebody whom his device knows; null when
 * any of it is not so. Certificates are not looked at: nobody was asked for one, and reading them would call
 * addresses that they name. Spec: Web Authentication, registering a new credential.
 */
export async function verifyAttestation(
  party: RelyingParty,
  challenge: string,
  { id, response }: Attestation,
): Promise<Credential | null> {
  const [{ verifyRegistrationResponse }, { isoBase64URL, ...read }] = [await library(), await helpers()]
  return orNull(async () => {
    const { attestationObject, clientDataJSON } = response
    const attestation = read.decodeAttestationObject(isoBase64URL.toBuffer(attestationObject))
    const hasCertificate = attestation.get('attStmt').get('x5c') !== undefined
    if (!['none', 'packed'].includes(attestation.get('fmt')) || hasCertificate) return null
    if (read.decodeClientDataJSON(clientDataJSON).crossOrigin) return null
    const transports = [...new Set(response.transports ?? [])]
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...publicKeyCredential(id), response: { attestationObject, clientDataJSON, transports } },
      ...expected(party, challenge),
      supportedAlgorithmIDs: algorithms,
    })
    const made = registrationInfo?.credential
    if (!made || made.id !== id || made.publicKey.byteLength > largestKey) return null
    const publicKey = isoBase64URL.fromBuffer(made.publicKey)
    return { credentialId: id, publicKey, counter: made.counter, transports }
  })
}

/**
 * The counter of the passkey after it has signed this challenge, on a page of ours, for somebody whom his device
 * knows; null when any of it is not so. Whether it went on, the caller finds out where he stores it.
 * Spec: Web Authentication, verifying an assertion.
 */
export async function verifyAssertion(
  party: RelyingParty,
  challenge: string,
  { id, response }: AssertionInput,
  passkey: Passkey,
): Promise<number | null> {
  const [{ verifyAuthenticationResponse }, { isoBase64URL, ...read }] = [await library(), await helpers()]
  return orNull(async () => {
    if (read.decodeClientDataJSON(response.clientDataJSON).crossOrigin) return null
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...publicKeyCredential(id), response },
      ...expected(party, challenge),
      credential: { id, publicKey: isoBase64URL.toBuffer(passkey.publicKey), counter: 0 },
    })
    return verified ? authenticationInfo.newCounter : null
  })
}

/** What browsers say of every passkey and the wire leaves out. */
const publicKeyCredential = (id: string) => ({
  id,
  rawId: id,
  type: 'public-key' as const,
  clientExtensionResults: {},
})

const expected = ({ id, origin }: RelyingParty, expectedChallenge: string) => ({
  expectedChallenge,
  expectedOrigin: origin,
  expectedRPID: id,
  requireUserVerification: true,
})

/** The library throws at whatever does not fit. */
const orNull = async <T>(work: () => Promise<T | null>): Promise<T | null> => work().catch(() => null)
