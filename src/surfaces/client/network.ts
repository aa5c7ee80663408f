import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import {
  addServerAllocation,
  changeNotes,
  giveBackAllocation,
  listServerAllocations,
  makePrimary,
  NotesInput,
} from '../../domain/network.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, permission, perServer, type ServerEnv } from './env.ts'
import { AllocationResource } from './resources/allocation.ts'

const ById = () => z.object({ allocation: pathId() })

/** Spec: Client API, network. */
export const network = new Hono<ServerEnv>()
  .get(
    '/allocations',
    summary('List the allocations of a server'),
    available,
    permission('allocation.read'),
    returns(200, AllocationResource.List),
    async (c) => c.json(AllocationResource.list(await listServerAllocations(c.var.panel, c.var.reached))),
  )

  .post(
    '/allocations',
    summary('Add a free allocation to a server'),
    available,
    permission('allocation.create'),
    throttle({ name: 'allocation-create', limit: 2, seconds: 60, key: perServer }),
    returns(200, AllocationResource.One),
    async (c) => c.json(AllocationResource.one(await addServerAllocation(c.var.panel, c.var.reached))),
  )

  .post(
    '/allocations/:allocation',
    summary('Change the notes of an allocation'),
    available,
    permission('allocation.update'),
    params(ById),
    body(NotesInput),
    returns(200, AllocationResource.One),
    async (c) => {
      const { panel, reached } = c.var
      const { notes } = c.req.valid('json')
      const changed = await changeNotes(panel, reached, c.req.valid('param').allocation, notes)
      return c.json(AllocationResource.one(changed))
    },
  )

  .post(
    '/allocations/:allocation/primary',
    summary('Make an allocation the primary one'),
    available,
    permission('allocation.update'),
    params(ById),
    returns(200, AllocationResource.One),
    async (c) => {
      const primary = await makePrimary(c.var.panel, c.var.reached, c.req.valid('param').allocation)
      return c.json(AllocationResource.one(primary))
    },
  )

  .delete(
    '/allocations/:allocation',
    summary('Give an allocation back'),
    available,
    permission('allocation.delete'),
    params(ById),
    returns(204),
    async (c) => {
      await giveBackAllocation(c.var.panel, c.var.reached, c.req.valid('param').allocation)
      return c.body(null, 204)
    },
  )
