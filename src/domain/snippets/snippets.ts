import { and, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import type * as z from 'zod'
import type { DataColumn } from '../../db/data-column.ts'
import { single } from '../../db/database.ts'
import { jsonColumn } from '../../db/json.ts'
import { commandSnippets, eggs, servers, users } from '../../db/schema.ts'
import type { CommandSnippet } from '../../db/tables/command-snippets.ts'
import type { EggSnippet } from '../../db/tables/eggs.ts'
import { displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { lockCaller, requireCaller } from '../auth/caller.ts'
import { boolean } from '../fields.ts'
import type { ServerAccess } from '../servers/access.ts'
import { SnippetFields } from './fields.ts'

/** Snippets that a user keeps, over all servers. */
const maxSnippets = 200

/** Spec: docs/servers.md#command-snippets. */
export const SnippetInput = () =>
  SnippetFields().extend({
    all_servers: boolean()
      .optional()
      .describe('Whether it is offered on all your servers, not only on this one'),
  })
type SnippetInput = z.output<ReturnType<typeof SnippetInput>>

/** A snippet of the caller. */
export type OwnSnippet = Pick<CommandSnippet, 'id' | 'name' | 'command' | 'serverId'>
/** What a console offers: the commands of the server's egg and of the caller. */
export type Snippets = { ofEgg: EggSnippet[]; own: OwnSnippet[] }

/** Selects the snippets of a server (`servers`) for the caller (`users`). Spec: docs/servers.md#command-snippets. */
export const snippetsColumn = (): DataColumn<Snippets> => ({
  name: 'command_snippets',
  column: () =>
    jsonColumn<Snippets>(sql`select json_build_object(
      'ofEgg', (select command_snippets from ${eggs} egg where egg.id = ${servers.eggId}),
      'own', (select coalesce(json_agg(json_build_object('id', own.id, 'name', own.name, 'command', own.command,
          'serverId', own.server_id) order by own.name, own.id), '[]'::json)
        from ${commandSnippets} own
        where own.user_id = ${users.id} and (own.server_id is null or own.server_id = ${servers.id})))`),
  values: {},
})

/** Keeps a command for the caller. Refuses with 400 more than 200 of them. Spec: docs/servers.md#command-snippets. */
export const addSnippet = (
  panel: Panel,
  { server }: Pick<ServerAccess, 'server'>,
  { name, command, all_servers: isForAll = false }: SnippetInput,
): Promise<OwnSnippet> =>
  inTransaction(panel, async (tx) => {
    const user = await lockCaller(tx)
    const count = await tx.db.$count(commandSnippets, eq(commandSnippets.userId, user.id))
    if (count >= maxSnippets)
      throw displayError('too_many_snippets', `You can keep at most ${maxSnippets} command snippets.`, {
        values: { max: maxSnippets },
      })
    const values = { userId: user.id, serverId: isForAll ? null : server.id, name, command }
    return single(await tx.db.insert(commandSnippets).values(values).returning())
  })

/** Removes a snippet of the caller. Refuses with 404. Spec: docs/servers.md#command-snippets. */
export async function removeSnippet(
  panel: Panel,
  { server }: Pick<ServerAccess, 'server'>,
  id: number,
): Promise<void> {
  const removed = await panel.db
    .delete(commandSnippets)
    .where(and(eq(commandSnippets.id, id), isOffered(requireCaller(panel).id, server.id)))
    .returning({ id: commandSnippets.id })
  if (removed.length === 0) throw notFound()
}

const isOffered = (userId: number, serverId: number): SQL | undefined =>
  and(
    eq(commandSnippets.userId, userId),
    or(isNull(commandSnippets.serverId), eq(commandSnippets.serverId, serverId)),
  )
