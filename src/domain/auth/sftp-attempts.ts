import { and, eq, or, sql, type SQL } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { throttles } from '../../db/schema.ts'
import { networkOf, siteOf } from '../../ip-addresses.ts'
import type { Panel, Tx } from '../../panel.ts'
import {
  countAccountAttemptStatement,
  refundAccountAttemptCte,
  requireNoWait,
  type AccountAttempt,
} from './account-attempts.ts'
import {
  attemptColumns,
  type CountedAttempt,
  countAttemptStatement,
  requireWithinLimit,
  tooManyAttempts,
} from './attempt-limits.ts'

/** Refused logins of one name at one server from one network. */
export const failureLimit = { maxAttempts: 5, windowSeconds: 60 }
/** Wrong passwords from one IPv4 address or /48 of IPv6, for any name at any node. */
const siteLimit = { maxAttempts: 60, windowSeconds: 60 }
/** Wrong passwords that one node asks about. */
const nodeLimit = { maxAttempts: 300, windowSeconds: 60 }

/** The keys under which a login is counted, beside that of its account. */
export type SftpKeys = { name: string; site: string; node: string }

/** Returns the keys of a login. `name` is the name with the short id of the server, `client` its address. */
export const sftpKeys = (name: string, client: string, node: { id: number }): SftpKeys => ({
  name: `sftp:${name}:${networkOf(client)}`,
  site: `sftp-site:${siteOf(client) ?? client}`,
  node: `sftp-node:${node.id}`,
})

/**
 * Builds the CTEs that count a password before it is checked: for the site, for the node, and for the
 * account together with sign-ins in a browser. What one limit refuses does not count for the next. Values
 * may be placeholders; nothing is counted unless `when` holds.
 */
export function countSftpAttemptCtes(
  tx: Tx,
  db: Database,
  keys: { site: SQL; node: SQL; subject: SQL; now: unknown; when: SQL },
) {
  const { now, when } = keys
  const site = db
    .$with('site')
    .as(countAttemptStatement(tx, db, keys.site, siteLimit, { now, when }).returning(attemptColumns))
  const isSiteWithin = sql`(select ${site.hits} from ${site}) <= ${siteLimit.maxAttempts}`
  const asking = db
    .$with('asking')
    .as(
      countAttemptStatement(tx, db, keys.node, nodeLimit, { now, when: isSiteWithin }).returning(
        attemptColumns,
      ),
    )
  const isNodeWithin = sql`(select ${asking.hits} from ${asking}) <= ${nodeLimit.maxAttempts}`
  const account = db.$with('account').as(
    countAccountAttemptStatement(db, keys.subject, { now, when: isNodeWithin }).returning({
      hits: throttles.hits,
    }),
  )
  return { site, asking, account }
}

/** What counting found. The name's limit is looked up only, since unknown keys do not count for it. */
export type SftpAttempt = AccountAttempt & {
  throttledUntil: Date | null
  site: CountedAttempt | null
  asking: CountedAttempt | null
}

/** Refuses with 429 a login beyond one of the limits; only passwords have a site, a node and an account. */
export async function requireSftpAttempt(
  panel: Panel,
  attempt: SftpAttempt,
  isPassword: boolean,
): Promise<void> {
  if (attempt.throttledUntil) throw tooManyAttempts(panel, attempt.throttledUntil)
  if (!isPassword) return
  if (attempt.site) requireWithinLimit(panel, attempt.site, siteLimit)
  if (attempt.asking) requireWithinLimit(panel, attempt.asking, nodeLimit)
  await requireNoWait(panel, attempt)
}

/** Takes a right password out of the counts, unless their window has ended meanwhile. One statement. */
export async function refundSftpAttempt(
  panel: Panel,
  keys: SftpKeys,
  { site, asking, userId }: SftpAttempt,
): Promise<void> {
  const counted = [
    ...(site ? [{ key: keys.site, resetsAt: site.resetsAt }] : []),
    ...(asking ? [{ key: keys.node, resetsAt: asking.resetsAt }] : []),
  ]
  const isCounted = or(
    ...counted.map(({ key, resetsAt }) => and(eq(throttles.key, key), eq(throttles.resetsAt, resetsAt))),
  )
  const refund = userId === null ? [] : [refundAccountAttemptCte(panel, userId)]
  await panel.db
    .with(...refund)
    .update(throttles)
    .set({ hits: sql`${throttles.hits} - 1` })
    .where(isCounted)
}
