import { Hono } from 'hono'
import * as z from 'zod'
import { cancelBulkOperation } from '../../domain/bulk/cancel.ts'
import { findBulkOperation, listBulkOperations } from '../../domain/bulk/progress.ts'
import { BulkInput, startBulkOperation } from '../../domain/bulk/start.ts'
import { pathId } from '../../domain/fields.ts'
import { refuseOtherMethods } from '../../http/errors.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { BulkOperationResource, BulkSummaryResource } from './resources/bulk-operation.ts'

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
    '/bulk-operations',
    summary('List actions on many servers, the newest first'),
    acl('servers', 'read'),
    listing({ perPage: 20, maxPerPage: 50 }),
    returns(200, BulkSummaryResource.Page),
    async (c) => {
      const page = await listBulkOperations(c.var.panel, c.req.valid('query'))
      return c.json(BulkSummaryResource.page(page, publicUrl(c)))
    },
  )

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

  .delete(
    '/bulk-operations/:bulk_operation',
    summary('Cancel what an action on many servers has not begun'),
    acl('servers', 'write'),
    params(OperationParams),
    returns(204),
    async (c) => {
      await cancelBulkOperation(c.var.panel, c.req.valid('param').bulk_operation)
      return c.body(null, 204)
    },
  )
