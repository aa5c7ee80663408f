import { eq, getTableName } from 'drizzle-orm'
import { identityIssuers } from '../../adapters/oauth.ts'
import { identities, movedRows } from '../../db/schema.ts'
import type { Panel } from '../../panel.ts'
import { keyOf } from './ledger.ts'
import { findFirst, type Move, type MovedRow, type Step } from './move.ts'
import type { SourceRow } from './spool.ts'
import { jsonOf, timesOf } from './values.ts'

type Provider = keyof typeof identityIssuers
const isProvider = (name: string): name is Provider => Object.hasOwn(identityIssuers, name)

/** Ids of accounts at providers: all digits, of Google up to 255. */
const subjectPattern = /^\d{1,255}$/

/** Pelican keeps the links of a user as JSON, the id of the account there by provider. */
function mapIdentities(row: SourceRow, move: Move): MovedRow[] {
  const userId = Number(row.id)
  const links = jsonOf(row, 'oauth')
  if (!move.moved.get('users')?.has(userId) || typeof links !== 'object' || links === null) return []
  return Object.entries(links).flatMap(([provider, id]: [string, unknown]) => {
    if (id === null || id === '') return []
    const subject = typeof id === 'number' && !Number.isSafeInteger(id) ? '' : String(id)
    const reason = isProvider(provider)
      ? reasonAgainst(move, { provider, subject, userId })
      : `is of ${provider.slice(0, 32)}, which this panel does not know`
    if (reason !== null || !isProvider(provider)) {
      move.report.leaveOut('identities', userId, reason ?? '')
      return []
    }
    const values = { userId, provider, issuer: identityIssuers[provider], subject, displayName: subject }
    return [{ values: { ...values, ...timesOf(row) } }]
  })
}

type Link = { provider: Provider; subject: string; userId: number }

/** Returns why a link does not move; null where it does. Here an account at a provider belongs to one user. */
function reasonAgainst(move: Move, { provider, subject, userId }: Link): string | null {
  if (!subjectPattern.test(subject)) return `has an id of ${provider} that is none`
  if (move.linkedHere.has(`${provider} ${subject}`))
    return `its account at ${provider} is linked to a user of this panel`
  const first = findFirst(move, 'identities', userId, [provider, subject])
  return first === null ? null : `its account at ${provider} is linked to the user ${first}, too`
}

/** Finds the accounts at providers that users linked here themselves. */
export async function findLinkedHere(panel: Panel): Promise<Set<string>> {
  const [linked, moved] = await Promise.all([
    panel.db.select({ provider: identities.provider, subject: identities.subject }).from(identities),
    panel.db
      .select({ key: movedRows.key })
      .from(movedRows)
      .where(eq(movedRows.tableName, getTableName(identities))),
  ])
  const hasMoved = new Set(moved.map(({ key }) => key))
  return new Set(
    linked.flatMap((values) =>
      hasMoved.has(keyOf(identityStep, values)) ? [] : [`${values.provider} ${values.subject}`],
    ),
  )
}

/** Links of Pelican's users to accounts at Google, GitHub and Discord. */
export const identityStep: Step = {
  source: 'users',
  target: identities,
  key: ['subject', 'provider'],
  isVerified: true,
  unsettled: ['displayName', 'createdAt'],
  map: mapIdentities,
}
