import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { findEgg, findNest, listEggs, listNests } from '../../domain/nests.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { params, returns, summary } from '../../http/route.ts'
import { acl } from './env.ts'
import { includesOf, presentList, presentOne, presentPage } from './relations.ts'
import { EggResource } from './resources/egg.ts'
import { NestResource } from './resources/nest.ts'

const ById = () => z.object({ nest: pathId() })
const EggById = () => z.object({ nest: pathId(), egg: pathId() })

/** Spec: Application API, `nests/{nest}/eggs`; the other three are what clients of the ecosystem call. */
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
