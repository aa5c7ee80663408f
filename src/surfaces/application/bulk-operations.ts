import { Hono } from 'hono'
import * as z from 'zod'
import { findBulkOperation } from '../../domain/bulk/progress.ts'
import { BulkInput, startBulkOperation } from '../../domain/bulk/start.ts'
import { pathId } from '../../domain/fields.ts'
import { refuseOtherMethods } from '../../http/errors.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { BulkOperationResource } from './resources/bulk-operation.ts'

const OperationParams = () => z.object({ bulk_operation: pathId() })

/** Actions on many servers: an extension of the ecosystem's API. Spec: docs/servers.md#bulk-actions. */
export const bulkOperations = new Hono<HttpEnv>()
  .post(
    '/servers/bulk',
    summary('Start an action on many servers'),
    acl('servers', 'write'),
    body(BulkInput),
    returns(202, BulkOperationResource.One),
    async (c) => {
      const id = await startBulkOperation(c.var.panel, c.req.valid('json'))
      return c.json(BulkOperationResource.one(await findBulkOperation(c.var.panel, id)), 202)
    },
  )

  // Before the routes of a server, which would look up one with this name.
  .use('/servers/bulk', refuseOtherMethods)

  .get(
    '/bulk-operations/:bulk_operation',
    summary('Show how far an action on many servers is'),
    acl('servers', 'read'),
    params(OperationParams),
    returns(200, BulkOperationResource.One),
    async (c) =>
      c.json(
        BulkOperationResource.one(await findBulkOperation(c.var.panel, c.req.valid('param').bulk_operation)),
      ),
  )
