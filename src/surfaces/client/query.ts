import { Hono } from 'hono'
import { readGameStatus } from '../../domain/games/queries.ts'
import { returns, summary } from '../../http/route.ts'
import { accessToServer, available, type ServerEnv } from './middleware.ts'
import { GameQueryWithMeta, presentGameQuery } from './resources/game-query.ts'

/** Spec: getClientServersByServerQuery. */
export const query = new Hono<ServerEnv>().get(
  '/',
  summary('Get the players online, from the latest answer of the game'),
  available,
  accessToServer,
  returns(200, GameQueryWithMeta),
  async (c) => c.json(presentGameQuery(await readGameStatus(c.var.panel, c.var.access))),
)
