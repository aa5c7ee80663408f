import { Hono } from 'hono'
import * as z from 'zod'
import {
  addServerAllocation,
  changeAllocationNotes,
  listServerAllocations,
  NotesInput,
  removeServerAllocation,
  setPrimaryAllocation,
} from '../../domain/allocations/server-allocations.ts'
import { pathId } from '../../domain/fields.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, permission, perServer, type ServerEnv } from './middleware.ts'
import { AllocationResource } from './resources/allocation.ts'

const AllocationParams = () => z.object({ allocation: pathId() })

/** Spec: docs/servers.md#allocations. */
export const network = new Hono<ServerEnv>()
  .get(
    '/allocations',
    summary('List the allocations of a server'),
    available,
    permission('allocation.read'),
    returns(200, AllocationResource.List),
    async (c) => c.json(AllocationResource.list(await listServerAllocations(c.var.panel, c.var.access))),
  )

  .post(
    '/allocations',
    summary('Assign a free allocation to a server'),
    available,
    permission('allocation.create'),
    throttle({ name: 'allocation-create', limit: 2, seconds: 60, key: perServer }),
    returns(200, AllocationResource.One),
    async (c) => c.json(AllocationResource.one(await addServerAllocation(c.var.panel, c.var.access))),
  )

  .post(
    '/allocations/:allocation',
    summary('Update the notes of an allocation'),
    available,
    permission('allocation.update'),
    params(AllocationParams),
    body(NotesInput),
    returns(200, AllocationResource.One),
    async (c) => {
      const { panel, access } = c.var
      const { notes } = c.req.valid('json')
      const changed = await changeAllocationNotes(panel, access, c.req.valid('param').allocation, notes)
      return c.json(AllocationResource.one(changed))
    },
  )

  .post(
    '/allocations/:allocation/primary',
    summary('Set the primary allocation'),
    available,
    permission('allocation.update'),
    params(AllocationParams),
    returns(200, AllocationResource.One),
    async (c) => {
      const primary = await setPrimaryAllocation(c.var.panel, c.var.access, c.req.valid('param').allocation)
      return c.json(AllocationResource.one(primary))
    },
  )

  .delete(
    '/allocations/:allocation',
    summary('Unassign an allocation'),
    available,
    permission('allocation.delete'),
    params(AllocationParams),
    returns(204),
    async (c) => {
      await removeServerAllocation(c.var.panel, c.var.access, c.req.valid('param').allocation)
      return c.body(null, 204)
    },
  )
