import { eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import ignore from 'ignore'
import { activity, eggs } from '../../db/schema.ts'
import { forbidden } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import type { EventName } from '../activity/events.ts'
import { activityRow } from '../activity/record.ts'
import type { ServerAccess } from '../servers/access.ts'

type Server = ServerAccess['server']

/**
 * Refuses with 403 when the egg of the server protects one of the paths or a folder above it. Daemons check their
 * own copy of the denylist, and on some routes only. Wings: docs/wings.md#denylist.
 */
export async function refuseDenied(
  panel: Panel,
  server: Pick<Server, 'eggId'>,
  paths: string[],
): Promise<void> {
  const [row] = await panel.db
    .select(denylistFields())
    .from(eggs)
    .leftJoin(parentEgg, isParentEgg)
    .where(eq(eggs.id, server.eggId))
  refuseMatches(row, paths)
}

/**
 * Records the event in the statement that reads the denylist. Refuses with 403, without an event, when the egg
 * protects the file.
 */
export function recordUnlessDenied(
  panel: Panel,
  server: Pick<Server, 'id' | 'eggId'>,
  event: EventName,
  file: string,
): Promise<void> {
  return inTransaction(panel, async (tx) => {
    const entry = activityRow(tx, event, { serverId: server.id, properties: { file } })
    const recorded = tx.db
      .$with('recorded')
      .as(tx.db.insert(activity).values(entry).returning({ id: activity.id }))
    const [row] = await tx.db
      .with(recorded)
      .select(denylistFields())
      .from(eggs)
      .leftJoin(parentEgg, isParentEgg)
      .where(eq(eggs.id, server.eggId))
    // Thrown inside the transaction, so that the entry is rolled back.
    refuseMatches(row, [file])
  })
}

const parentEgg = alias(eggs, 'parent')
const isParentEgg = eq(parentEgg.id, eggs.configFrom)

/**
 * Selects the denylists: that of the egg named by `config_from` replaces the own one, as in
 * `resolveInheritedEgg`.
 */
const denylistFields = () => ({
  own: eggs.fileDenylist,
  inherited: sql<string[] | null>`${parentEgg.fileDenylist}`.mapWith(parentEgg.fileDenylist),
})

/** Patterns have the syntax of .gitignore and are case-sensitive, as files on Linux are. */
function refuseMatches(
  row: { own: string[]; inherited: string[] | null } | undefined,
  paths: string[],
): void {
  const patterns = row?.inherited ?? row?.own ?? []
  if (patterns.length === 0) return
  const matcher = ignore({ ignorecase: false }).add(patterns)
  const denied = paths.find((path) => path !== '/' && matcher.ignores(path.slice(1)))
  if (denied !== undefined)
    throw forbidden('path_protected', `The egg of the server protects ${denied}.`, {
      values: { path: denied },
    })
}
