import { Hono } from 'hono'
import { readGameStatus } from '../../domain/games/queries.ts'
import { returns, summary } from '../../http/route.ts'
import { accessToServer, available, type ServerEnv } from './middleware.ts'
import { GameQueryResource } from './resources/game-query.ts'

/** Spec: getClientServersByServerQuery. */
export const query = new Hono<ServerEnv>().get(
  '/',
  summary('Get the players online, from the latest answer of the game'),
  available,
  accessToServer,
  returns(200, GameQueryResource.One),
  async (c) => c.json(GameQueryResource.one(await readGameStatus(c.var.panel, c.var.access))),
)
