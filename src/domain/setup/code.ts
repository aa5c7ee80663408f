import { sql } from 'drizzle-orm'
import { settings, users } from '../../db/schema.ts'
import { forbidden } from '../../errors.ts'
import { networkOf } from '../../ip-addresses.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { consumeAttempt } from '../auth/attempt-limits.ts'
import { digest, equalSecrets, randomText } from '../secrets.ts'
import { invalidField } from '../validation.ts'

/** The row of the settings with the hash of the code; no setting has its name. */
const codeKey = 'setup.code'
/** Attempts from one network. */
const attemptLimit = { maxAttempts: 10, windowSeconds: 900 }
const groups = 4
const groupLength = 4

/** Whether the panel has no user yet, as a column. */
export const isSetupDueColumn = sql<boolean>`not exists (select 1 from ${users})`

/** Whether the panel has no user yet. One statement. */
export async function isSetupDue(tx: Pick<Tx, 'db'>): Promise<boolean> {
  const found = await tx.db.select({ id: users.id }).from(users).limit(1)
  return found.length === 0
}

/**
 * Creates the code that protects the creation of the first administrator; it replaces the one before. Returns
 * the configured `SETUP_CODE` where there is one, and null when the panel has a user.
 */
export async function issueSetupCode(panel: Panel): Promise<string | null> {
  return inTransaction(panel, async (tx) => {
    if (!(await isSetupDue(tx))) return null
    if (tx.config.setupCode) return tx.config.setupCode
    const parts = Array.from({ length: groups }, () => randomText(groupLength).toUpperCase())
    const code = parts.join('-')
    const value = digest(normalise(code))
    await tx.db
      .insert(settings)
      .values({ key: codeKey, value })
      .onConflictDoUpdate({ target: settings.key, set: { value, updatedAt: tx.now() } })
    return code
  })
}

/**
 * Refuses with 403 once the panel has a user, with 422 a wrong code, with 429 the eleventh attempt of a network in
 * 15 minutes.
 */
export async function requireSetupCode(panel: Panel, code: string): Promise<void> {
  const [found] = await panel.db
    .select({
      isDue: isSetupDueColumn,
      hash: sql<unknown>`(select value from ${settings} where key = ${codeKey})`,
    })
    .from(sql`(select 1) as one_row`)
  if (!found?.isDue) throw setupIsDone()
  await consumeAttempt(panel, `setup:${networkOf(panel.ip)}`, attemptLimit)
  const { setupCode } = panel.config
  const expected = setupCode ? digest(normalise(setupCode)) : found.hash
  if (typeof expected === 'string' && equalSecrets(digest(normalise(code)), expected)) return
  throw invalidField('code', 'in', 'The set-up code is wrong. The console of the panel shows it.', {
    reason: 'setup_code_wrong',
  })
}

/** 403: the panel has users. */
export const setupIsDone = () => forbidden('already_set_up', 'This panel is set up already.')

/** Deletes the code, which has been used. */
export async function deleteSetupCode(tx: Tx): Promise<void> {
  await tx.db.delete(settings).where(sql`${settings.key} = ${codeKey}`)
}

/** People type a code in either case, and leave out its hyphens. */
const normalise = (code: string) => code.replaceAll(/[^\dA-Za-z]/g, '').toUpperCase()
