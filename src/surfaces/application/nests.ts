import { Hono } from 'hono'
import * as z from 'zod'
import {
  addNest,
  changeNest,
  findNest,
  listNests,
  NestChanges,
  NestInput,
  removeNest,
} from '../../domain/eggs/nests.ts'
import { pathId } from '../../domain/fields.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { answerOne, answerPage } from './answers.ts'
import { created } from './created.ts'
import { acl } from './middleware.ts'
import { includesOf } from './relations.ts'
import { NestResource } from './resources/nest.ts'

const NestParams = () => z.object({ nest: pathId() })

/** Nests, which group eggs. Spec: docs/eggs.md#nests-and-eggs. */
export const nests = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List nests'),
    acl('nests', 'read'),
    listing({ perPage: 50, maxPerPage: 500 }),
    returns(200, NestResource.Page),
    async (c) => {
      const includes = await includesOf(c, 'nest')
      const page = await listNests(c.var.panel, c.req.valid('query'), includes.allowed)
      return answerPage(c, 'nest', page, includes)
    },
  )

  .get(
    '/:nest',
    summary('Show a nest'),
    acl('nests', 'read'),
    params(NestParams),
    returns(200, NestResource.One),
    async (c) => {
      const includes = await includesOf(c, 'nest')
      const nest = await findNest(c.var.panel, c.req.valid('param').nest, includes.allowed)
      return answerOne(c, 'nest', nest, includes)
    },
  )

  .post(
    '/',
    summary('Create a nest'),
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
    summary('Update a nest'),
    acl('nests', 'write'),
    params(NestParams),
    body(NestChanges),
    returns(200, NestResource.One),
    async (c) => {
      const nest = await changeNest(c.var.panel, c.req.valid('param').nest, c.req.valid('json'))
      return c.json(NestResource.one(nest))
    },
  )

  .delete(
    '/:nest',
    summary('Delete a nest without eggs'),
    acl('nests', 'write'),
    params(NestParams),
    returns(204),
    async (c) => {
      await removeNest(c.var.panel, c.req.valid('param').nest)
      return c.body(null, 204)
    },
  )
