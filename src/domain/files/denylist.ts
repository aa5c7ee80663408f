import { eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import ignore from 'ignore'
import { activity, eggs } from '../../db/schema.ts'
import { forbidden } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { entryOf, type EventName } from '../activity.ts'
import type { ReachedServer } from '../credentials.ts'

type Server = ReachedServer['server']

/**
 * None of the paths is protected by the server's egg, nor in a folder that is. Refuses with 403. A daemon
 * asks its own copy of the list, and on some routes only. Wings: file routes, denylist.
 */
export async function refuseDenied(
  panel: Panel,
  server: Pick<Server, 'eggId'>,
  paths: string[],
): Promise<void> {
  const [row] = await panel.db
    .select(denylistColumns())
    .from(eggs)
    .leftJoin(parent, isParent)
    .where(eq(eggs.id, server.eggId))
  refuseMatches(row, paths)
}

/**
 * The event is recorded, unless the server's egg protects the file: then there is none, and 403. One statement:
 * who reads pays no second one.
 */
export function recordUnlessDenied(
  panel: Panel,
  server: Pick<Server, 'id' | 'eggId'>,
  event: EventName,
  file: string,
): Promise<void> {
  return inTransaction(panel, async ({ db }) => {
    const entry = entryOf(panel, event, { serverId: server.id, properties: { file } })
    const recorded = db.$with('recorded').as(db.insert(activity).values(entry).returning({ id: activity.id }))
    const [row] = await db
      .with(recorded)
      .select(denylistColumns())
      .from(eggs)
      .leftJoin(parent, isParent)
      .where(eq(eggs.id, server.eggId))
    // Thrown inside, so that the entry is taken back.
    refuseMatches(row, [file])
  })
}

const parent = alias(eggs, 'parent')
const isParent = eq(parent.id, eggs.configFrom)

/** As in `effectiveEgg`: the list of the egg named by `config_from` replaces the own one. */
const denylistColumns = () => ({
  own: eggs.fileDenylist,
  inherited: sql<string[] | null>`${parent.fileDenylist}`.mapWith(parent.fileDenylist),
})

/** Patterns are those of .gitignore; Linux tells capitals from small letters. */
function refuseMatches(
  row: { own: string[]; inherited: string[] | null } | undefined,
  paths: string[],
): void {
  const patterns = row?.inherited ?? row?.own ?? []
  if (patterns.length === 0) return
  const matcher = ignore({ ignorecase: false }).add(patterns)
  const denied = paths.find((path) => path !== '/' && matcher.ignores(path.slice(1)))
  if (denied !== undefined) throw forbidden(`The egg of the server protects ${denied}.`)
}
