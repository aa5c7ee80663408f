import { type Context, Hono } from 'hono'
import { DumpQuery, MoveInCheckInput, MoveInStartInput, requireMoveIn } from '../../domain/move-in/move-in.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { receiveFile } from '../../http/request-body.ts'
import { body, query, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { MoveInResource } from './resources/move-in.ts'

const showMove = async ({ var: { panel } }: Context<HttpEnv>) =>
  MoveInResource.one(await requireMoveIn(panel).read(panel))

/** The length that the caller announces; null without one. */
function announcedLength(c: Context): number | null {
  const header = c.req.header('content-length') ?? ''
  return /^\d{1,15}$/.test(header) ? Number(header) : null
}

/** The move of another panel into this one, for root administrators. Spec: docs/moving-in.md#in-the-administrators-area. */
export const moveIn = new Hono<HttpEnv>()
  .get(
    '/',
    summary('Show the move from another panel'),
    acl('settings', 'read'),
    returns(200, MoveInResource.One),
    async (c) => c.json(await showMove(c)),
  )

  .post(
    '/dump',
    summary('Upload the dump of another panel'),
    acl('settings', 'write'),
    query(DumpQuery),
    returns(200, MoveInResource.One),
    async (c) => {
      const { panel } = c.var
      const chunks = receiveFile(c.req.raw)
      await requireMoveIn(panel).receive(panel, { ...c.req.valid('query'), size: announcedLength(c), chunks })
      return c.json(await showMove(c))
    },
  )

  .post(
    '/check',
    summary('Check what can move from another panel'),
    acl('settings', 'write'),
    body(MoveInCheckInput),
    returns(202, MoveInResource.One),
    async (c) => {
      const { app_key: key, previous_keys: previous, ...input } = c.req.valid('json')
      await requireMoveIn(c.var.panel).check(c.var.panel, {
        kind: input.kind,
        keys: [key, ...(previous ?? [])],
        env: input.env ?? null,
        timezone: input.timezone ?? null,
        correctTimezone: input.correct_timezone ?? false,
        dumpTimezone: input.dump_timezone ?? null,
        ignoreColumns: input.ignore_columns ?? [],
      })
      return c.json(await showMove(c), 202)
    },
  )

  .post(
    '/start',
    summary('Move in what was checked'),
    acl('settings', 'write'),
    body(MoveInStartInput),
    returns(202, MoveInResource.One),
    async (c) => {
      await requireMoveIn(c.var.panel).start(c.var.panel, { since: c.req.valid('json').since ?? false })
      return c.json(await showMove(c), 202)
    },
  )

  .delete(
    '/',
    summary('Cancel the move from another panel, and delete its dump'),
    acl('settings', 'write'),
    returns(204),
    async (c) => {
      await requireMoveIn(c.var.panel).discard(c.var.panel)
      return c.body(null, 204)
    },
  )
