import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import {
  addRole,
  changeRole,
  findRole,
  listRoles,
  removeRole,
  RoleChanges,
  roleFilters,
  RoleInput,
} from '../../domain/roles/roles.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { answerOne, answerPage } from './answers.ts'
import { created } from './created.ts'
import { acl } from './middleware.ts'
import { includesOf } from './relations.ts'
import { RoleResource } from './resources/role.ts'

const RoleParams = () => z.object({ role: pathId() })
const listOptions = { filters: roleFilters, sorts: ['id', 'name'], perPage: 50, maxPerPage: 500 }

type RoleParam = { in: { param: { role: number } }; out: { param: { role: number } } }

/** Refuses with 404 an unknown role, before the body is judged. */
const existingRole = createMiddleware<HttpEnv, string, RoleParam>(async (c, next) => {
  await findRole(c.var.panel, c.req.valid('param').role)
  await next()
})

/** Roles of administrators: an extension of the ecosystem's API. Spec: docs/accounts.md#roles. */
export const roles = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List the roles of administrators'),
    acl('administrators', 'read'),
    listing(listOptions),
    returns(200, RoleResource.Page),
    async (c) => {
      const includes = await includesOf(c, 'role')
      const page = await listRoles(c.var.panel, c.req.valid('query'), includes.allowed)
      return answerPage(c, 'role', page, includes)
    },
  )

  .get(
    '/:role',
    summary('Show a role'),
    acl('administrators', 'read'),
    params(RoleParams),
    returns(200, RoleResource.One),
    async (c) => {
      const includes = await includesOf(c, 'role')
      const role = await findRole(c.var.panel, c.req.valid('param').role, includes.allowed)
      return answerOne(c, 'role', role, includes)
    },
  )

  .post(
    '/',
    summary('Create a role'),
    acl('administrators', 'write'),
    body(RoleInput),
    returns(201, RoleResource.One),
    async (c) => {
      const role = await addRole(c.var.panel, c.req.valid('json'))
      return created(c, `roles/${role.id}`, RoleResource.one(role))
    },
  )

  .patch(
    '/:role',
    summary('Update a role'),
    acl('administrators', 'write'),
    params(RoleParams),
    existingRole,
    body(RoleChanges),
    returns(200, RoleResource.One),
    async (c) => {
      const role = await changeRole(c.var.panel, c.req.valid('param').role, c.req.valid('json'))
      return c.json(RoleResource.one(role))
    },
  )

  .delete(
    '/:role',
    summary('Delete a role without holders'),
    acl('administrators', 'write'),
    params(RoleParams),
    returns(204),
    async (c) => {
      await removeRole(c.var.panel, c.req.valid('param').role)
      return c.body(null, 204)
    },
  )
