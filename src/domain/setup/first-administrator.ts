import { sql } from 'drizzle-orm'
import * as z from 'zod'
import { passkeys, users } from '../../db/schema.ts'
import type { Session } from '../../db/tables/sessions.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent, recordEvent } from '../activity/record.ts'
import { type ClientInfo, type SignIn, startSession } from '../auth/login.ts'
import { consumeChallenge, createChallenge } from '../auth/passkeys/challenge.ts'
import { requirePasskeys } from '../auth/passkeys/relying-party.ts'
import {
  attestationFields,
  creationOptions,
  type CreationOptions,
  type Credential,
  verifyAttestation,
} from '../auth/passkeys/webauthn.ts'
import { newPasswordFields, unconfirmedPassword } from '../auth/password.ts'
import { hashNewPassword } from '../auth/password-hash.ts'
import { type NewSession, storeInSession, takeSessionData } from '../auth/sessions.ts'
import { text } from '../fields.ts'
import type { Language } from '../languages.ts'
import { insertFirstUser, UserInput } from '../users/users.ts'
import { deleteSetupCode, isSetupDue, requireSetupCode, setupIsDone } from './code.ts'
import { beginProgress } from './progress.ts'

/** Lengths from a short code that an operator chose to a long one. */
export const codeField = () => z.string().min(1, 'required').max(255, 'max')
const names = { first_name: 'Panel', last_name: 'Administrator' }

const accountFields = () =>
  UserInput()
    .pick({ username: true, email: true })
    .extend({ code: codeField(), first_name: text(191).nullish(), last_name: text(191).nullish() })

/** The account for which a browser shall create a passkey. Spec: docs/accounts.md#set-up. */
export const SetupPasskeyInput = () => accountFields()
/** The first administrator, with a password, a passkey, or both. Spec: docs/accounts.md#set-up. */
export const SetupInput = () =>
  accountFields()
    .extend({
      password: newPasswordFields().password.nullish(),
      password_confirmation: newPasswordFields().password_confirmation,
      passkey: z.object({ ...attestationFields(), name: text(100).regex(/^\P{Cc}*$/u, 'regex') }).nullish(),
    })
    .refine(({ password, passkey }) => Boolean(password ?? passkey), {
      path: ['password'],
      error: 'required_without',
    })
    .refine(
      ({ password, password_confirmation: again }) => !password || password === again,
      unconfirmedPassword,
    )
type SetupPasskeyInput = z.output<ReturnType<typeof SetupPasskeyInput>>
type SetupInput = z.output<ReturnType<typeof SetupInput>>

/**
 * Begins to create a passkey for the first administrator; the browser has five minutes. `session` is a new guest
 * session, or null when the browser keeps its own. Refuses with 403 while passkeys cannot be used, and as
 * `requireSetupCode`.
 */
export async function beginSetupPasskey(
  panel: Panel,
  session: Session | null,
  input: SetupPasskeyInput,
  clientInfo: ClientInfo,
): Promise<{ options: CreationOptions; session: NewSession | null }> {
  await requireSetupCode(panel, input.code)
  const relyingParty = await requirePasskeys(panel)
  const uuid = crypto.randomUUID()
  const account = { uuid, username: input.username.toLowerCase(), ...namesOf(input) }
  const options = await creationOptions(relyingParty, panel.config.name, account, [])
  const data = { ...createChallenge(panel, 'setup', options), setup: { uuid } }
  const newSession = await storeInSession(panel, session, data, {
    userAgent: clientInfo.userAgent,
    previous: clientInfo.token,
  })
  return { options, session: newSession }
}

/**
 * Creates the first administrator, whose address counts as verified, and signs them in to a new session. The code
 * works once: of parallel requests one succeeds. Refuses with 400 a passkey that was not created for this session,
 * and as `requireSetupCode`. Records `admin:user.create`, `auth:success` and with a passkey `user:passkey.create`.
 */
export async function createFirstAdministrator(
  panel: Panel,
  session: Session | null,
  input: SetupInput,
  clientInfo: ClientInfo,
  language: Language,
): Promise<SignIn> {
  await requireSetupCode(panel, input.code)
  const passkey = input.passkey ? await readPasskey(panel, session, input.passkey) : null
  const passwordHash = input.password ? await hashNewPassword(panel, input.password) : null
  const { username, email } = input
  const account = { username, email, ...fieldsOf(namesOf(input)), language, root_admin: true }
  return inTransaction(panel, async (tx) => {
    await tx.db.execute(sql`lock table ${users} in share row exclusive mode`)
    if (!(await isSetupDue(tx))) throw setupIsDone()
    const user = await insertFirstUser(tx, account, passwordHash, passkey?.uuid)
    const actor = { kind: 'user' as const, user, apiKey: null }
    await recordAdminEvent({ ...tx, actor }, 'admin:user.create', { type: 'user', id: user.id }, { username })
    if (passkey) await storePasskey({ ...tx, actor }, user, passkey)
    await deleteSetupCode(tx)
    await beginProgress(tx)
    return startSession(tx, user, clientInfo, { method: 'setup' })
  })
}

type SetupPasskey = { uuid: string; credential: Credential; name: string }

async function readPasskey(
  panel: Panel,
  session: Session | null,
  { name, ...attestation }: NonNullable<SetupInput['passkey']>,
): Promise<SetupPasskey> {
  const relyingParty = await requirePasskeys(panel)
  const pending = session ? await takeSessionData(panel, session, 'setup') : null
  const challenge = await consumeChallenge(panel, session, 'setup')
  const credential = await verifyAttestation(relyingParty, challenge, attestation)
  if (!credential || !pending)
    throw displayError('passkey_unverified', 'The passkey could not be verified. Try again.')
  return { uuid: pending.uuid, credential, name }
}

async function storePasskey(tx: Tx, user: User, { credential, name }: SetupPasskey): Promise<void> {
  await tx.db.insert(passkeys).values({ ...credential, userId: user.id, name })
  await recordEvent(tx, 'user:passkey.create', { userId: user.id, properties: { name } })
}

const namesOf = (input: SetupPasskeyInput) => ({
  firstName: input.first_name ?? names.first_name,
  lastName: input.last_name ?? names.last_name,
})
const fieldsOf = ({ firstName, lastName }: ReturnType<typeof namesOf>) => ({
  first_name: firstName,
  last_name: lastName,
})
