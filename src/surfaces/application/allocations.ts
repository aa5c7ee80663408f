import { type Context, Hono } from 'hono'
import * as z from 'zod'
import {
  addAllocations,
  allocationFilters,
  AllocationsInput,
  listAllocations,
  removeAllocation,
} from '../../domain/allocations.ts'
import { pathId } from '../../domain/fields.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { listing, type ListQuery } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { acl } from './env.ts'
import { includesOf, presentPage } from './relations.ts'
import { AllocationResource } from './resources/allocation.ts'

const OfNode = () => z.object({ node: pathId() })
const ById = () => z.object({ node: pathId(), allocation: pathId() })
const List = { filters: allocationFilters, perPage: 50, mostPerPage: 500 }

/** Lists leave out filters without a value; this one means unassigned then. */
const withEmptyServer = (c: Context, query: ListQuery): ListQuery =>
  c.req.query('filter[server_id]') === undefined
    ? query
    : { ...query, filters: { server_id: [], ...query.filters } }

/** Spec: Application API, nodes/{node}/allocations. */
export const allocations = new Hono<HttpEnv>()
  .get(
    '/:node/allocations',
    summary('List the allocations of a node'),
    acl('allocations', 'read'),
    params(OfNode),
    listing(List),
    returns(200, AllocationResource.Page),
    async (c) => {
      const includes = includesOf(c, 'allocation')
      const { node } = c.req.valid('param')
      const query = withEmptyServer(c, c.req.valid('query'))
      const page = await listAllocations(c.var.panel, node, query, includes.allowed)
      return c.json(presentPage('allocation', page, includes, publicUrl(c)))
    },
  )

  .post(
    '/:node/allocations',
    summary('Add allocations to a node'),
    acl('allocations', 'write'),
    params(OfNode),
    body(AllocationsInput),
    returns(204),
    async (c) => {
      await addAllocations(c.var.panel, c.req.valid('param').node, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .delete(
    '/:node/allocations/:allocation',
    summary('Remove a free allocation of a node'),
    acl('allocations', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      const { node, allocation } = c.req.valid('param')
      await removeAllocation(c.var.panel, node, allocation)
      return c.body(null, 204)
    },
  )
