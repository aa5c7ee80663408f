import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import {
  addUser,
  changeUser,
  findUser,
  findUserByExternalId,
  listUsers,
  removeUser,
  UserChanges,
  userFilters,
  UserInput,
} from '../../domain/users.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { created } from './created.ts'
import { acl, administrator } from './env.ts'
import { includesOf, presentOne, presentPage } from './relations.ts'
import { UserResource } from './resources/user.ts'

const ById = () => z.object({ user: pathId() })
const ByExternalId = () => z.object({ external_id: z.string().min(1).max(191) })
const List = { filters: userFilters, sorts: ['id', 'uuid'], perPage: 50, mostPerPage: 500 }

/** The account, and what went wrong on nodes when a demotion took its tokens away: nothing so far. */
const Changed = () =>
  z.intersection(UserResource.One(), z.object({ meta: z.object({ revocation_errors: z.array(z.string()) }) }))

/** Spec: Application API, users. */
export const users = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List accounts'),
    administrator,
    listing(List),
    returns(200, UserResource.Page),
    async (c) => {
      const includes = includesOf(c, 'user')
      const page = await listUsers(c.var.panel, c.req.valid('query'), includes.allowed)
      return c.json(presentPage('user', page, includes, publicUrl(c)))
    },
  )

  .get(
    '/external/:external_id',
    summary('Show the account with an external id'),
    acl('users', 'read'),
    params(ByExternalId),
    returns(200, UserResource.One),
    async (c) => {
      const includes = includesOf(c, 'user')
      const user = await findUserByExternalId(c.var.panel, c.req.valid('param').external_id, includes.allowed)
      return c.json(presentOne('user', user, includes))
    },
  )

  .get(
    '/:user',
    summary('Show an account'),
    administrator,
    params(ById),
    returns(200, UserResource.One),
    async (c) => {
      const includes = includesOf(c, 'user')
      const user = await findUser(c.var.panel, c.req.valid('param').user, includes.allowed)
      return c.json(presentOne('user', user, includes))
    },
  )

  .post(
    '/',
    summary('Add an account'),
    acl('users', 'write'),
    body(UserInput),
    returns(201, UserResource.One),
    async (c) => {
      const includes = includesOf(c, 'user')
      const { id } = await addUser(c.var.panel, c.req.valid('json'))
      const user = await findUser(c.var.panel, id, includes.allowed)
      return created(c, `users/${id}`, presentOne('user', user, includes))
    },
  )

  .patch(
    '/:user',
    summary('Change an account'),
    acl('users', 'write'),
    params(ById),
    body(UserChanges),
    returns(200, Changed),
    async (c) => {
      const includes = includesOf(c, 'user')
      const { user, revocationErrors } = await changeUser(
        c.var.panel,
        c.req.valid('param').user,
        c.req.valid('json'),
      )
      const shown = await findUser(c.var.panel, user.id, includes.allowed)
      return c.json({ ...presentOne('user', shown, includes), meta: { revocation_errors: revocationErrors } })
    },
  )

  .delete(
    '/:user',
    summary('Remove an account without servers'),
    acl('users', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await removeUser(c.var.panel, c.req.valid('param').user)
      return c.body(null, 204)
    },
  )
