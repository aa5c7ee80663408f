import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import {
  addNest,
  changeNest,
  findEgg,
  findNest,
  listEggs,
  listNests,
  NestChanges,
  NestInput,
  removeNest,
} from '../../domain/nests.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { created } from './created.ts'
import { acl } from './env.ts'
import { includesOf, presentList, presentOne, presentPage } from './relations.ts'
import { EggResource } from './resources/egg.ts'
import { NestResource } from './resources/nest.ts'

const ById = () => z.object({ nest: pathId() })
const EggById = () => z.object({ nest: pathId(), egg: pathId() })

/** Spec: Application API, `nests/{nest}/eggs`; the other readers are what clients of the ecosystem call. */
export const nests = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List nests'),
    acl('nests', 'read'),
    listing({ perPage: 50, mostPerPage: 500 }),
    returns(200, NestResource.Page),
    async (c) => {
      const includes = includesOf(c, 'nest')
      const page = await listNests(c.var.panel, c.req.valid('query'), includes.allowed)
      return c.json(presentPage('nest', page, includes, publicUrl(c)))
    },
  )

  .get(
    '/:nest',
    summary('Show a nest'),
    acl('nests', 'read'),
    params(ById),
    returns(200, NestResource.One),
    async (c) => {
      const includes = includesOf(c, 'nest')
      const nest = await findNest(c.var.panel, c.req.valid('param').nest, includes.allowed)
      return c.json(presentOne('nest', nest, includes))
    },
  )

  .get(
    '/:nest/eggs',
    summary('List the eggs of a nest'),
    acl('eggs', 'read'),
    params(ById),
    returns(200, EggResource.List),
    async (c) => {
      const includes = includesOf(c, 'egg')
      const eggs = await listEggs(c.var.panel, c.req.valid('param').nest, includes.allowed)
      return c.json(presentList('egg', eggs, includes))
    },
  )

  .get(
    '/:nest/eggs/:egg',
    summary('Show an egg'),
    acl('eggs', 'read'),
    params(EggById),
    returns(200, EggResource.One),
    async (c) => {
      const includes = includesOf(c, 'egg')
      const { nest, egg } = c.req.valid('param')
      return c.json(presentOne('egg', await findEgg(c.var.panel, nest, egg, includes.allowed), includes))
    },
  )

  .post(
    '/',
    summary('Add a nest'),
    acl('nests', 'write'),
    body(NestInput),
    returns(201, NestResource.One),
    async (c) => {
      const nest = await addNest(c.var.panel, c.req.valid('json'))
      return created(c, `nests/${nest.id}`, NestResource.one(nest))
    },
  )

  .patch(
    '/:nest',
    summary('Change a nest'),
    acl('nests', 'write'),
    params(ById),
    body(NestChanges),
    returns(200, NestResource.One),
    async (c) => {
      const nest = await changeNest(c.var.panel, c.req.valid('param').nest, c.req.valid('json'))
      return c.json(NestResource.one(nest))
    },
  )

  .delete(
    '/:nest',
    summary('Remove a nest without eggs'),
    acl('nests', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await removeNest(c.var.panel, c.req.valid('param').nest)
      return c.body(null, 204)
    },
  )
