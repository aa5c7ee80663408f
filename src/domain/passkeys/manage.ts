import { and, asc, eq } from 'drizzle-orm'
import * as z from 'zod'
import { passkeys } from '../../db/schema.ts'
import type { Passkey } from '../../db/tables/passkeys.ts'
import type { Session } from '../../db/tables/sessions.ts'
import { displayError, notFound, unauthenticated } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { callersAccount, lockCallersAccount } from '../account/caller.ts'
import { requirePassword } from '../account/current-password.ts'
import { requireWayIn } from '../account/ways-in.ts'
import { record } from '../activity.ts'
import { announceSignInMethod } from '../mail/orders.ts'
import { text } from '../fields.ts'
import { rememberInSession } from '../sessions.ts'
import { refusingDuplicates } from '../validation.ts'
import { openChallenge, takeChallenge } from './challenge.ts'
import { requirePasskeys } from './relying-party.ts'
import {
  attestationFields,
  creationOptions,
  type CreationOptions,
  type Credential,
  verifyAttestation,
} from './webauthn.ts'

/** Passkeys that one account may have. */
const mostPasskeys = 25

/** Spec: POST /account/security/passkeys. */
export const PasskeyInput = () =>
  z.object({ ...attestationFields(), name: text(100).regex(/^\P{Cc}*$/u, 'regex') })
type PasskeyInput = z.output<ReturnType<typeof PasskeyInput>>

/**
 * The caller, who knows his password, may make a passkey within five minutes. Refuses with 403 while passkeys
 * cannot be used, with 400 a wrong password, and the 26th passkey. Spec: POST /account/security/passkeys/options.
 */
export async function offerPasskey(
  panel: Panel,
  session: Session | null,
  { current_password: password }: { current_password: string },
): Promise<CreationOptions> {
  if (!session) throw unauthenticated()
  const party = await requirePasskeys(panel)
  const user = callersAccount(panel)
  await requirePassword(panel, user, password)
  const held = await passkeysOf(panel, user)
  if (held.length >= mostPasskeys) throw tooMany()
  const options = await creationOptions(party, panel.config.name, user, held)
  await rememberInSession(panel, session, openChallenge(panel, 'register', options))
  return options
}

/**
 * The caller signs in with this passkey from now on. Refuses with 403 while passkeys cannot be used, with 400
 * one that was not made for the challenge of this session, and the 26th, and with 422 one that an account has
 * already. Records `user:passkey.create`. Spec: POST /account/security/passkeys.
 */
export async function addPasskey(panel: Panel, session: Session | null, input: PasskeyInput): Promise<void> {
  const party = await requirePasskeys(panel)
  const challenge = await takeChallenge(panel, session, 'register')
  const credential = await verifyAttestation(party, challenge, input)
  if (!credential) throw displayError('The passkey could not be checked. Begin again.')
  await refusingDuplicates({ credential: 'id' }, () =>
    inTransaction(panel, (panel) => store(panel, credential, input.name)),
  )
}

async function store(panel: Panel, credential: Credential, name: string): Promise<void> {
  const user = await lockCallersAccount(panel)
  if ((await passkeysOf(panel, user)).length >= mostPasskeys) throw tooMany()
  const now = panel.now()
  await panel.db
    .insert(passkeys)
    .values({ ...credential, userId: user.id, name, createdAt: now, updatedAt: now })
  await record(panel, 'user:passkey.create', { userId: user.id, properties: { name } })
  await announceSignInMethod(panel, user.id, 'passkey')
}

/**
 * The caller does not sign in with this passkey any more. Refuses with 403 while passkeys are switched off, with
 * 400 a wrong password, and what would leave him no way to sign in, with 404 what is not his. Records
 * `user:passkey.delete`. Spec: DELETE /account/security/passkeys/{id}.
 */
export async function removePasskey(panel: Panel, id: number, password: string): Promise<void> {
  await requirePasskeys(panel)
  await requirePassword(panel, callersAccount(panel), password)
  await inTransaction(panel, async (panel) => {
    const user = await lockCallersAccount(panel)
    const [removed] = await panel.db
      .delete(passkeys)
      .where(and(eq(passkeys.id, id), eq(passkeys.userId, user.id)))
      .returning()
    if (!removed) throw notFound()
    await requireWayIn(panel, user)
    await record(panel, 'user:passkey.delete', { userId: user.id, properties: { name: removed.name } })
  })
}

const passkeysOf = (panel: Panel, user: { id: number }): Promise<Passkey[]> =>
  panel.db.select().from(passkeys).where(eq(passkeys.userId, user.id)).orderBy(asc(passkeys.id))

const tooMany = () => displayError(`An account may have at most ${mostPasskeys} passkeys.`)
