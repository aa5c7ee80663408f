import { eq, inArray, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { GameQueryResult, GameTarget } from '../../adapters/game-query.ts'
import { type Database, isForeignKeyViolation, prepared } from '../../db/database.ts'
import { embedMany } from '../../db/embed.ts'
import { allocations, eggs, gameQueries, jobs, nodes, servers } from '../../db/schema.ts'
import type { GameQuery } from '../../db/tables/game-queries.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import type { JobPayloads } from '../jobs/enqueue.ts'
import type { ServerAccess } from '../servers/access.ts'
import { resolveGameHost } from './address.ts'
import { detectGame } from './protocols.ts'

/** The last answer of a game. Null players are unknown, not zero. */
export type GameStatus = Pick<
  GameQuery,
  'status' | 'players' | 'maxPlayers' | 'game' | 'checkedAt' | 'version' | 'playerNames'
>

/** Seconds after which a request has the game queried again. */
const maxAgeSeconds = 30
/** Seconds until the deadline of a query job; the next request enqueues another. */
const queryLifetimeSeconds = 300

/** Seconds after which a list that is shown has games queried again, and so many of them at once. */
const maxListedAgeSeconds = 300
const maxListedQueries = 20
const unsupportedAgeSeconds = 86_400

const pendingStatus: GameStatus = {
  status: 'pending',
  players: null,
  maxPlayers: null,
  game: '',
  checkedAt: null,
  version: null,
  playerNames: [],
}

/**
 * Returns the last answer of the server's game. When it is older than 30 seconds, the same statement enqueues a
 * job that queries the game, one per server at a time. Spec: getClientServersByServerQuery.
 */
export async function readGameStatus(
  panel: Panel,
  { server }: Pick<ServerAccess, 'server'>,
): Promise<GameStatus> {
  const now = panel.now()
  const secondsFromNow = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString()
  const [row] = await readStatement(panel.db)
    .execute({
      server: server.id,
      now: now.toISOString(),
      staleSince: secondsFromNow(-maxAgeSeconds),
      deadline: secondsFromNow(queryLifetimeSeconds),
    })
    .catch((error: unknown) => {
      // The server was deleted meanwhile.
      if (isForeignKeyViolation(error)) throw notFound()
      throw error
    })
  if (row?.job?.id) panel.wake([{ id: row.job.id, runAt: now }])
  return row?.known?.status ? row.known : pendingStatus
}

/**
 * Enqueues jobs that query the games of the servers whose answer is older than five minutes, at most 20 at once, the
 * oldest first; the tick of the next minute runs them. Games that cannot be queried are tried again after a day.
 * Spec: docs/servers.md#players.
 */
export async function requestGameQueries(panel: Panel, uuids: readonly string[]): Promise<void> {
  const ago = (seconds: number) =>
    sql`${new Date(panel.now().getTime() - seconds * 1000).toISOString()}::timestamptz`
  const [now, staleSince] = [ago(0), ago(maxListedAgeSeconds)]
  const isStale = sql`coalesce(game_queries.requested_at <= ${staleSince}, true)`
  await panel.db.execute(sql`with asked as (
    insert into game_queries (server_id, requested_at)
    select servers.id, ${now} from servers left join game_queries on game_queries.server_id = servers.id
    where ${inArray(servers.uuid, [...uuids])} and ${isStale}
      and (game_queries.status is distinct from 'unsupported' or game_queries.requested_at <= ${ago(unsupportedAgeSeconds)})
    order by game_queries.requested_at nulls first limit ${maxListedQueries}
    on conflict (server_id) do update set requested_at = excluded.requested_at where ${isStale}
    returning server_id)
  insert into jobs (name, payload, key, run_at, deadline_at)
  select 'query-game', jsonb_build_object('serverId', server_id), 'query-game:' || server_id, ${now}, ${ago(-queryLifetimeSeconds)}
  from asked on conflict (key) where state = 'waiting' do nothing`)
}

/**
 * Runs `query-game`: queries the game and stores the answer with the time. A game without a protocol is
 * unsupported, one that does not answer has no player counts. Does nothing when the server is deleted.
 */
export async function queryGame(panel: Panel, { serverId }: JobPayloads['query-game']): Promise<void> {
  const target = await findTarget(panel, serverId)
  if (!target) return
  const answer: GameQueryResult =
    target === 'unknown game' ? { status: 'unsupported' } : await panel.gameQuery(target)
  await panel.db
    .update(gameQueries)
    .set({
      status: answer.status,
      players: answer.status === 'online' ? answer.players : null,
      maxPlayers: answer.status === 'online' ? answer.maxPlayers : null,
      version: answer.status === 'online' ? answer.version : null,
      playerNames: answer.status === 'online' ? [...answer.playerNames] : [],
      game: target === 'unknown game' ? '' : target.game,
      checkedAt: panel.now(),
    })
    .where(eq(gameQueries.serverId, serverId))
}

async function findTarget(panel: Panel, serverId: number): Promise<GameTarget | 'unknown game' | null> {
  const parent = alias(eggs, 'parent')
  const [found] = await panel.db
    .select({
      egg: eggs,
      parentFeatures: parent.features,
      node: nodes,
      primary: allocations,
      own: embedMany(allocations, { where: (each) => eq(each.serverId, servers.id) }),
    })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .innerJoin(eggs, eq(eggs.id, servers.eggId))
    .leftJoin(parent, eq(parent.id, eggs.configFrom))
    .innerJoin(allocations, eq(allocations.id, servers.allocationId))
    .where(eq(servers.id, serverId))
  if (!found) return null
  const { egg, node, primary, own } = found
  const game = detectGame({ ...egg, features: egg.features ?? found.parentFeatures })
  if (game === null) return 'unknown game'
  const ownPorts = own.filter(({ ip }) => ip === primary.ip).map(({ port }) => port)
  return { game, host: resolveGameHost(node, primary), port: primary.port, ownPorts }
}

const { placeholder } = sql

/** Reads the stored answer; when it is stale, marks it as requested and enqueues the job. */
const readStatement = (db: Database) =>
  prepared(db, 'read_game_query', (connection) => {
    const staleSince = sql`${placeholder('staleSince')}::timestamptz`
    const known = connection.$with('known').as(
      connection
        .select()
        .from(gameQueries)
        .where(eq(gameQueries.serverId, placeholder('server'))),
    )
    const requested = connection.$with('asked', { serverId: gameQueries.serverId }).as(sql`
      insert into game_queries (server_id, requested_at)
      select ${placeholder('server')}::integer, ${placeholder('now')}::timestamptz
      where not exists (select 1 from known where requested_at > ${staleSince})
      on conflict (server_id) do update set requested_at = excluded.requested_at
      where coalesce(game_queries.requested_at <= ${staleSince}, true)
      returning server_id`)
    const job = connection.$with('job', { id: jobs.id }).as(sql`
      insert into jobs (name, payload, key, run_at, deadline_at)
      select 'query-game', jsonb_build_object('serverId', server_id), 'query-game:' || server_id,
        ${placeholder('now')}::timestamptz, ${placeholder('deadline')}::timestamptz from asked
      on conflict (key) where state = 'waiting' do nothing
      returning id`)
    return connection
      .with(known, requested, job)
      .select()
      .from(sql`(select 1) as one`)
      .leftJoin(known, sql`true`)
      .leftJoin(job, sql`true`)
      .prepare('read_game_query')
  })
