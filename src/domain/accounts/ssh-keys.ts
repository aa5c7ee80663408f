import { and, asc, eq } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { sshKeys } from '../../db/schema.ts'
import type { SshKey } from '../../db/tables/ssh-keys.ts'
import { displayError, type Reason, type ReasonValues } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { lockCaller, requireCaller } from '../auth/caller.ts'
import { text } from '../fields.ts'
import { invalidField } from '../validation.ts'
import { parsePublicKey, toPem } from './ssh-public-key.ts'

/** SSH keys per account. */
const maxKeys = 50
/** Bits of an RSA key. Spec: docs/limits.md#sizes. */
const minRsaBits = 2048

/** Spec: docs/accounts.md#ssh-keys. */
export const SshKeyInput = () => z.object({ name: text(191), public_key: text(16_384) })
type SshKeyInput = z.output<ReturnType<typeof SshKeyInput>>

/** The fingerprint is given without `SHA256:`. Spec: docs/accounts.md#ssh-keys. */
export const SshKeyRemoval = () => z.object({ fingerprint: text(191) })

/** Lists the caller's SSH keys, oldest first. Spec: docs/accounts.md#ssh-keys. */
export function listSshKeys(tx: Tx): Promise<SshKey[]> {
  return tx.db
    .select()
    .from(sshKeys)
    .where(eq(sshKeys.userId, requireCaller(tx).id))
    .orderBy(asc(sshKeys.id))
}

/**
 * Adds an SSH key with which the caller can log in over SFTP. Refuses with 422, rule `""`, a key that is
 * not RSA with at least 2048 bits, ECDSA or Ed25519, and one that the account has already; with 400 the
 * 51st key. Records `user:ssh-key.create`. Spec: docs/accounts.md#ssh-keys.
 */
export async function addSshKey(panel: Panel, input: SshKeyInput): Promise<SshKey> {
  const { fingerprint, publicKey } = parseAcceptedKey(input.public_key)
  return inTransaction(panel, async (tx) => {
    const user = await lockCaller(tx)
    const existing = await listSshKeys(tx)
    if (existing.some((key) => key.fingerprint === fingerprint)) {
      throw invalidPublicKey('ssh_key_known', 'Your account already has this key.')
    }
    if (existing.length >= maxKeys)
      throw displayError('too_many_ssh_keys', `An account can have at most ${maxKeys} SSH keys.`, {
        values: { max: maxKeys },
      })
    const values = { userId: user.id, name: input.name, fingerprint, publicKey }
    const key = single(await tx.db.insert(sshKeys).values(values).returning())
    await recordSshKeyEvent(tx, 'user:ssh-key.create', key)
    return key
  })
}

/**
 * Removes one of the caller's SSH keys; open SFTP sessions stay. Does nothing when the caller has no such
 * key. Records `user:ssh-key.delete` when there was one. Spec: postClientAccountSshKeysRemove.
 */
export async function removeSshKey(panel: Panel, fingerprint: string): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const user = await lockCaller(tx)
    const [key] = await tx.db
      .delete(sshKeys)
      .where(and(eq(sshKeys.userId, user.id), eq(sshKeys.fingerprint, fingerprint)))
      .returning()
    if (key) await recordSshKeyEvent(tx, 'user:ssh-key.delete', key)
  })
}

/** Parses a key and converts it to PEM, the format in which it is stored and shown. Refuses with 422. */
function parseAcceptedKey(line: string): Pick<SshKey, 'fingerprint' | 'publicKey'> {
  const key = parsePublicKey(line)
  if (!key) throw invalidPublicKey('ssh_key_malformed', 'This is not a public key in OpenSSH format.')
  if (key.kind === 'dsa') throw invalidPublicKey('ssh_key_dsa', 'DSA keys are not accepted.')
  if (key.kind === 'rsa' && (key.bits ?? 0) < minRsaBits) {
    throw invalidPublicKey('ssh_key_rsa_short', `RSA keys need at least ${minRsaBits} bits.`, {
      bits: minRsaBits,
    })
  }
  const publicKey = toPem(key)
  if (publicKey === null) throw invalidPublicKey('ssh_key_type', 'Keys of this type are not accepted.')
  return { fingerprint: key.fingerprint, publicKey }
}

const invalidPublicKey = (reason: Reason, detail: string, values: ReasonValues = {}) =>
  invalidField('public_key', '', detail, { reason, values })

/** Records the event on the account that has the key. */
export const recordSshKeyEvent = (
  tx: Tx,
  event: 'user:ssh-key.create' | 'user:ssh-key.delete',
  key: SshKey,
) =>
  recordEvent(tx, event, {
    userId: key.userId,
    properties: { fingerprint: key.fingerprint },
    subjects: [{ type: 'ssh_key', id: key.id }],
  })
