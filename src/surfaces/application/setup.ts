import { Hono } from 'hono'
import { changeProgress, readProgress, SetupChanges } from '../../domain/setup/progress.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { SetupResource } from './resources/setup.ts'

/** The steps after the first administrator was created. Spec: docs/accounts.md#set-up. */
export const setup = new Hono<HttpEnv>()
  .get(
    '/',
    summary('Show how far the set-up is'),
    acl('settings', 'read'),
    returns(200, SetupResource.One),
    async (c) => c.json(SetupResource.one(await readProgress(c.var.panel))),
  )

  .patch(
    '/',
    summary('Update steps of the set-up'),
    acl('settings', 'write'),
    body(SetupChanges),
    returns(200, SetupResource.One),
    async (c) => c.json(SetupResource.one(await changeProgress(c.var.panel, c.req.valid('json')))),
  )
