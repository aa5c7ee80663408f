import * as z from 'zod'
import { passkeys } from '../../db/schema.ts'
import { cutTo, hasParent, type Move, type MovedRow, type Step } from './move.ts'
import type { SourceRow } from './spool.ts'
import { dateOf, jsonOf, textOf, timesOf } from './values.ts'

const maxNameLength = 100

/** Bytes in base64url, as it is stored here; other spellings of base64 are read, too. */
const bytes = (maxLength: number) =>
  z
    .string()
    .regex(/^[\w+/-]+={0,2}$/)
    .transform((text) => Buffer.from(text, 'base64').toString('base64url'))
    .refine((text) => text.length > 0 && text.length <= maxLength)

/** The record of a credential as Pelican stores it, of which this panel needs a part. */
const Credential = z.object({
  publicKeyCredentialId: bytes(2048),
  credentialPublicKey: bytes(2732),
  userHandle: bytes(256),
  counter: z.int().min(0),
  transports: z.array(z.string().max(32)).max(8).catch([]),
})

function mapPasskey(row: SourceRow, move: Move): MovedRow | null {
  if (!hasParent(move, 'passkeys', row, 'user_id', 'users')) return null
  const id = Number(row.id)
  const credential = Credential.safeParse(jsonOf(row, 'credential')).data
  const reason = !credential ? 'its credential is damaged' : otherHost(move)
  if (reason !== null || !credential) {
    move.report.leaveOut('passkeys', id, reason ?? '')
    return null
  }
  return {
    values: {
      id,
      userId: Number(row.user_id),
      name:
        textOf(row, 'name').trim() === '' ? 'Passkey' : cutTo(move, 'passkeys', row, 'name', maxNameLength),
      credentialId: credential.publicKeyCredentialId,
      publicKey: credential.credentialPublicKey,
      counter: credential.counter,
      transports: credential.transports,
      userHandle: credential.userHandle,
      lastUsedAt: dateOf(row, 'last_used_at'),
      ...timesOf(row),
    },
  }
}

/** A passkey is bound to the domain of the panel. Returns why it does not work here, or null. */
function otherHost({ env, passkeyDomain: here }: Move): string | null {
  const there = URL.parse(env?.APP_URL ?? '')?.hostname
  if (!there) return 'the domain it is bound to is not known: give --env with the APP_URL of the old panel'
  if (here === null) return 'this panel has no domain with HTTPS: set APP_URL'
  return there === here ? null : `is bound to ${there}, and this panel is at ${here}: set APP_URL`
}

/** Passkeys of Pelican. */
export const passkeyStep: Step = {
  source: 'passkeys',
  target: passkeys,
  unique: ['credentialId'],
  unsettled: ['counter', 'lastUsedAt'],
  map: mapPasskey,
}
