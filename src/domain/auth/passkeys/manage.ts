import { and, asc, eq } from 'drizzle-orm'
import * as z from 'zod'
import { passkeys } from '../../../db/schema.ts'
import type { Passkey } from '../../../db/tables/passkeys.ts'
import type { Session } from '../../../db/tables/sessions.ts'
import { displayError, notFound, unauthenticated } from '../../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../../panel.ts'
import { recordEvent } from '../../activity/record.ts'
import { text } from '../../fields.ts'
import { enqueueSignInMethodNotice } from '../../mail/enqueue.ts'
import { readIdentity } from '../../settings/identity.ts'
import { rejectDuplicates } from '../../validation.ts'
import { lockCaller, requireCaller } from '../caller.ts'
import { requireCurrentPassword } from '../current-password.ts'
import { mergeSessionData } from '../sessions.ts'
import { requireRemainingSignInMethod } from '../sign-in-methods.ts'
import { consumeChallenge, createChallenge } from './challenge.ts'
import { requirePasskeys } from './relying-party.ts'
import {
  attestationFields,
  creationOptions,
  type CreationOptions,
  type Credential,
  verifyAttestation,
} from './webauthn.ts'

/** Passkeys per account. */
const maxPasskeys = 25

/** Spec: postAccountSecurityPasskeys. */
export const PasskeyInput = () =>
  z.object({ ...attestationFields(), name: text(100).regex(/^\P{Cc}*$/u, 'regex') })
type PasskeyInput = z.output<ReturnType<typeof PasskeyInput>>

/**
 * Begins to add a passkey to the caller's account; the browser has five minutes. Refuses with 403 while
 * passkeys cannot be used, with 400 a wrong password and the 26th passkey. Spec:
 * postAccountSecurityPasskeysOptions.
 */
export async function beginPasskeyRegistration(
  panel: Panel,
  session: Session | null,
  { current_password: password }: { current_password: string },
): Promise<CreationOptions> {
  if (!session) throw unauthenticated()
  const relyingParty = await requirePasskeys(panel)
  const user = requireCaller(panel)
  await requireCurrentPassword(panel, user, password)
  const existing = await findPasskeys(panel, user)
  if (existing.length >= maxPasskeys) throw tooManyPasskeys()
  const { name } = await readIdentity(panel)
  const options = await creationOptions(relyingParty, name, user, existing)
  await mergeSessionData(panel, session, createChallenge(panel, 'register', options))
  return options
}

/**
 * Adds a passkey to the caller's account. Refuses with 403 while passkeys cannot be used, with 400 one that
 * was not created for the challenge of this session, and the 26th, with 422 one that an account has
 * already. Records `user:passkey.create`. Spec: postAccountSecurityPasskeys.
 */
export async function addPasskey(panel: Panel, session: Session | null, input: PasskeyInput): Promise<void> {
  const relyingParty = await requirePasskeys(panel)
  const challenge = await consumeChallenge(panel, session, 'register')
  const credential = await verifyAttestation(relyingParty, challenge, input)
  if (!credential) throw displayError('passkey_unverified', 'The passkey could not be verified. Try again.')
  await rejectDuplicates({ credential: 'id' }, () =>
    inTransaction(panel, (tx) => storePasskey(tx, credential, input.name)),
  )
}

async function storePasskey(tx: Tx, credential: Credential, name: string): Promise<void> {
  const user = await lockCaller(tx)
  if ((await findPasskeys(tx, user)).length >= maxPasskeys) throw tooManyPasskeys()
  const now = tx.now()
  await tx.db
    .insert(passkeys)
    .values({ ...credential, userId: user.id, name, createdAt: now, updatedAt: now })
  await recordEvent(tx, 'user:passkey.create', { userId: user.id, properties: { name } })
  await enqueueSignInMethodNotice(tx, user.id, 'passkey')
}

/**
 * Removes one of the caller's passkeys. Refuses with 403 while passkeys cannot be used, with 400 a wrong
 * password and the removal of the last sign-in method, with 404 an unknown passkey. Records
 * `user:passkey.delete`. Spec: deleteAccountSecurityPasskeysById.
 */
export async function removePasskey(panel: Panel, id: number, password: string): Promise<void> {
  await requirePasskeys(panel)
  await requireCurrentPassword(panel, requireCaller(panel), password)
  await inTransaction(panel, async (tx) => {
    const user = await lockCaller(tx)
    const [removed] = await tx.db
      .delete(passkeys)
      .where(and(eq(passkeys.id, id), eq(passkeys.userId, user.id)))
      .returning()
    if (!removed) throw notFound()
    await requireRemainingSignInMethod(tx, user)
    await recordEvent(tx, 'user:passkey.delete', { userId: user.id, properties: { name: removed.name } })
  })
}

const findPasskeys = (tx: Tx, user: { id: number }): Promise<Passkey[]> =>
  tx.db.select().from(passkeys).where(eq(passkeys.userId, user.id)).orderBy(asc(passkeys.id))

const tooManyPasskeys = () =>
  displayError('too_many_passkeys', `An account can have at most ${maxPasskeys} passkeys.`, {
    values: { max: maxPasskeys },
  })
