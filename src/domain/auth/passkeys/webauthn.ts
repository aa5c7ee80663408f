import type {
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import * as z from 'zod'
import type { Passkey } from '../../../db/tables/passkeys.ts'
import type { User } from '../../../db/tables/users.ts'
import type { RelyingParty } from './relying-party.ts'

/** What a browser needs to create a passkey. */
export type CreationOptions = PublicKeyCredentialCreationOptionsJSON
/** What a browser needs to use a passkey. */
export type RequestOptions = PublicKeyCredentialRequestOptionsJSON

/** A passkey as it is stored; id and public key are base64url. */
export type Credential = Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'>

/** EdDSA, ES256 and RS256, by their COSE numbers. */
const algorithms = [-8, -7, -257]
/** Bytes of a public key: twice what the largest of these algorithms needs. */
const maxPublicKeyBytes = 2048
/** Seconds in which a browser has to answer. */
export const challengeSeconds = 300

const base64url = (maxLength: number) =>
  z
    .string()
    .max(maxLength, 'max')
    .regex(/^[\w-]+$/, 'regex')

/** Spec: postAuthPasskeysLogin. */
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

/** A new passkey as browsers report it. Spec: postAccountSecurityPasskeys. */
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

/** Loaded on first use, because most requests do not need it. */
const loadWebauthn = () => import('@simplewebauthn/server')
const loadWebauthnHelpers = () => import('@simplewebauthn/server/helpers')

/** Returns the name that authenticators store for the account; it reveals nothing about the user. */
export const toUserHandle = ({ uuid }: Pick<User, 'uuid'>): string => Buffer.from(uuid).toString('base64url')

/**
 * Builds the options of a discoverable passkey with user verification, because it replaces name and
 * password.
 */
export async function creationOptions(
  relyingParty: RelyingParty,
  panelName: string,
  user: Pick<User, 'uuid' | 'username' | 'firstName' | 'lastName'>,
  existing: Passkey[],
): Promise<CreationOptions> {
  const { generateRegistrationOptions } = await loadWebauthn()
  return generateRegistrationOptions({
    rpName: panelName,
    rpID: relyingParty.id,
    userName: user.username,
    userDisplayName: `${user.firstName} ${user.lastName}`.trim(),
    userID: new TextEncoder().encode(user.uuid),
    timeout: challengeSeconds * 1000,
    attestationType: 'none',
    excludeCredentials: existing.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: transports as AuthenticatorTransport[],
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  })
}

/** Builds the options of a sign-in with any passkey of this panel. */
export async function requestOptions(relyingParty: RelyingParty): Promise<RequestOptions> {
  const { generateAuthenticationOptions } = await loadWebauthn()
  return generateAuthenticationOptions({
    rpID: relyingParty.id,
    timeout: challengeSeconds * 1000,
    userVerification: 'required',
  })
}

/**
 * Verifies a new passkey: the challenge, the origin and the user verification. Returns null when it is not
 * valid. Attestations with a certificate are refused, because the panel asks for none, and validating one
 * would call addresses that it names. W3C Web Authentication Level 3, section 7.1.
 */
export async function verifyAttestation(
  relyingParty: RelyingParty,
  challenge: string,
  { id, response }: Attestation,
): Promise<Credential | null> {
  const [{ verifyRegistrationResponse }, { isoBase64URL, ...decoders }] = [
    await loadWebauthn(),
    await loadWebauthnHelpers(),
  ]
  return nullOnError(async () => {
    const { attestationObject, clientDataJSON } = response
    const attestation = decoders.decodeAttestationObject(isoBase64URL.toBuffer(attestationObject))
    const hasCertificate = attestation.get('attStmt').get('x5c') !== undefined
    if (!['none', 'packed'].includes(attestation.get('fmt')) || hasCertificate) return null
    if (decoders.decodeClientDataJSON(clientDataJSON).crossOrigin) return null
    const transports = [...new Set(response.transports ?? [])]
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...publicKeyCredential(id), response: { attestationObject, clientDataJSON, transports } },
      ...expectedResponse(relyingParty, challenge),
      supportedAlgorithmIDs: algorithms,
    })
    const newCredential = registrationInfo?.credential
    if (!newCredential || newCredential.id !== id || newCredential.publicKey.byteLength > maxPublicKeyBytes)
      return null
    const publicKey = isoBase64URL.fromBuffer(newCredential.publicKey)
    return { credentialId: id, publicKey, counter: newCredential.counter, transports }
  })
}

/**
 * Verifies the signature of a passkey: the challenge, the origin and the user verification. Returns its new
 * counter, which the caller compares, or null when it is not valid. W3C Web Authentication Level 3, section
 * 7.2.
 */
export async function verifyAssertion(
  relyingParty: RelyingParty,
  challenge: string,
  { id, response }: AssertionInput,
  passkey: Passkey,
): Promise<number | null> {
  const [{ verifyAuthenticationResponse }, { isoBase64URL, ...decoders }] = [
    await loadWebauthn(),
    await loadWebauthnHelpers(),
  ]
  return nullOnError(async () => {
    if (decoders.decodeClientDataJSON(response.clientDataJSON).crossOrigin) return null
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...publicKeyCredential(id), response },
      ...expectedResponse(relyingParty, challenge),
      credential: { id, publicKey: isoBase64URL.toBuffer(passkey.publicKey), counter: 0 },
    })
    return verified ? authenticationInfo.newCounter : null
  })
}

/** Fields that are the same for every passkey and that requests omit. */
const publicKeyCredential = (id: string) => ({
  id,
  rawId: id,
  type: 'public-key' as const,
  clientExtensionResults: {},
})

const expectedResponse = ({ id, origin }: RelyingParty, expectedChallenge: string) => ({
  expectedChallenge,
  expectedOrigin: origin,
  expectedRPID: id,
  requireUserVerification: true,
})

/** The library throws on every mismatch. */
const nullOnError = async <T>(work: () => Promise<T | null>): Promise<T | null> => work().catch(() => null)
