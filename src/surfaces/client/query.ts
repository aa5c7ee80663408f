import { Hono } from 'hono'
import { readGameQuery } from '../../domain/game-queries.ts'
import { returns, summary } from '../../http/route.ts'
import { access, available, type ServerEnv } from './env.ts'
import { GameQueryResource } from './resources/game-query.ts'

/** Spec: Client API, game query. */
export const query = new Hono<ServerEnv>().get(
  '/',
  summary('Show who plays, as the game last said; has it asked again when that is long ago'),
  available,
  access,
  returns(200, GameQueryResource.One),
  async (c) => c.json(GameQueryResource.one(await readGameQuery(c.var.panel, c.var.reached))),
)
