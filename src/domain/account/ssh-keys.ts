import { and, asc, eq } from 'drizzle-orm'
import * as z from 'zod'
import { only } from '../../db/database.ts'
import { sshKeys } from '../../db/schema.ts'
import type { SshKey } from '../../db/tables/ssh-keys.ts'
import { displayError } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { text } from '../fields.ts'
import { publicKeyPem, readPublicKey } from '../ssh-key-material.ts'
import { invalidField } from '../validation.ts'
import { callersAccount, lockCallersAccount } from './caller.ts'

/** SSH keys one person may hold. */
const mostKeys = 50
/** Bits of an RSA key. Spec: Limits. */
const leastRsaBits = 2048

/** Spec: Client API, account: ssh-keys. */
export const SshKeyInput = () => z.object({ name: text(191), public_key: text(16_384) })
type SshKeyInput = z.output<ReturnType<typeof SshKeyInput>>

/** Names a key by its fingerprint, without `SHA256:` in front. Spec: Client API, account: ssh-keys. */
export const SshKeyRemoval = () => z.object({ fingerprint: text(191) })

/** The caller's SSH keys in the order in which they were added. Spec: Client API, account: ssh-keys. */
export function listSshKeys(panel: Panel): Promise<SshKey[]> {
  return panel.db
    .select()
    .from(sshKeys)
    .where(eq(sshKeys.userId, callersAccount(panel).id))
    .orderBy(asc(sshKeys.id))
}

/**
 * Adds a key by which the caller logs in over SFTP. Refuses with 422, rule `""`, what is no public key of RSA
 * with 2048 bits, ECDSA or Ed25519, and one the account has already; with 400 the 51st key. Records
 * `user:ssh-key.create`. Spec: Client API, account: ssh-keys.
 */
export async function addSshKey(panel: Panel, input: SshKeyInput): Promise<SshKey> {
  const { fingerprint, publicKey } = acceptKey(input.public_key)
  return inTransaction(panel, async (panel) => {
    const user = await lockCallersAccount(panel)
    const held = await listSshKeys(panel)
    if (held.some((key) => key.fingerprint === fingerprint)) {
      throw unusable('Your account already has this key.')
    }
    if (held.length >= mostKeys) throw displayError(`An account may hold at most ${mostKeys} SSH keys.`)
    const values = { userId: user.id, name: input.name, fingerprint, publicKey }
    const key = only(await panel.db.insert(sshKeys).values(values).returning())
    await recordKey(panel, 'user:ssh-key.create', key)
    return key
  })
}

/**
 * The caller logs in by this key no more; sessions that are open stay so. One that is not his is left alone.
 * Records `user:ssh-key.delete` when there was one. Spec: Client API, account: ssh-keys/remove.
 */
export async function removeSshKey(panel: Panel, fingerprint: string): Promise<void> {
  await inTransaction(panel, async (panel) => {
    const user = await lockCallersAccount(panel)
    const [key] = await panel.db
      .delete(sshKeys)
      .where(and(eq(sshKeys.userId, user.id), eq(sshKeys.fingerprint, fingerprint)))
      .returning()
    if (key) await recordKey(panel, 'user:ssh-key.delete', key)
  })
}

/** The key as it is kept: as PEM, which is how the ecosystem shows it. */
function acceptKey(line: string): Pick<SshKey, 'fingerprint' | 'publicKey'> {
  const key = readPublicKey(line)
  if (!key) throw unusable('This is no public key in the format of OpenSSH.')
  if (key.kind === 'dsa') throw unusable('DSA keys are not accepted.')
  if (key.kind === 'rsa' && (key.bits ?? 0) < leastRsaBits) {
    throw unusable(`RSA keys need at least ${leastRsaBits} bits.`)
  }
  const publicKey = publicKeyPem(key)
  if (publicKey === null) throw unusable('Keys of this kind are not accepted.')
  return { fingerprint: key.fingerprint, publicKey }
}

const unusable = (detail: string) => invalidField('public_key', '', detail)

const recordKey = (panel: Panel, event: 'user:ssh-key.create' | 'user:ssh-key.delete', key: SshKey) =>
  record(panel, event, {
    userId: key.userId,
    properties: { fingerprint: key.fingerprint },
    subjects: [{ type: 'ssh_key', id: key.id }],
  })
