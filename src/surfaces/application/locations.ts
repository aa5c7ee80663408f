import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import {
  addLocation,
  changeLocation,
  findLocation,
  listLocations,
  LocationChanges,
  LocationInput,
  removeLocation,
} from '../../domain/locations/locations.ts'
import { listCapacity } from '../../domain/locations/capacity.ts'
import { refuseOtherMethods } from '../../http/errors.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { answerOne, answerPage } from './answers.ts'
import { created } from './created.ts'
import { acl } from './middleware.ts'
import { includesOf } from './relations.ts'
import { LocationCapacityResource } from './resources/location-capacity.ts'
import { LocationResource } from './resources/location.ts'

const LocationParams = () => z.object({ location: pathId() })
const listOptions = { filters: ['short', 'long'], sorts: ['id'], perPage: 50, maxPerPage: 500 }

type LocationParam = { in: { param: { location: number } }; out: { param: { location: number } } }

/** Refuses with 404 an unknown location, before the body is judged. */
const existingLocation = createMiddleware<HttpEnv, string, LocationParam>(async (c, next) => {
  await findLocation(c.var.panel, c.req.valid('param').location)
  await next()
})

/** Spec: getApplicationLocations. */
export const locations = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List locations'),
    acl('locations', 'read'),
    listing(listOptions),
    returns(200, LocationResource.Page),
    async (c) => {
      const includes = await includesOf(c, 'location')
      const page = await listLocations(c.var.panel, c.req.valid('query'), includes.allowed)
      return answerPage(c, 'location', page, includes)
    },
  )

  .get(
    '/capacity',
    summary('Show the capacity of every location'),
    acl('locations', 'read'),
    returns(200, LocationCapacityResource.List),
    async (c) => c.json(LocationCapacityResource.list(await listCapacity(c.var.panel.db))),
  )
  .use('/capacity', refuseOtherMethods)

  .get(
    '/:location',
    summary('Show a location'),
    acl('locations', 'read'),
    params(LocationParams),
    returns(200, LocationResource.One),
    async (c) => {
      const includes = await includesOf(c, 'location')
      const location = await findLocation(c.var.panel, c.req.valid('param').location, includes.allowed)
      return answerOne(c, 'location', location, includes)
    },
  )

  .post(
    '/',
    summary('Create a location'),
    acl('locations', 'write'),
    body(LocationInput),
    returns(201, LocationResource.One),
    async (c) => {
      const location = await addLocation(c.var.panel, c.req.valid('json'))
      return created(c, `locations/${location.id}`, LocationResource.one(location))
    },
  )

  .patch(
    '/:location',
    summary('Update a location'),
    acl('locations', 'write'),
    params(LocationParams),
    existingLocation,
    body(LocationChanges),
    returns(200, LocationResource.One),
    async (c) => {
      const location = await changeLocation(c.var.panel, c.req.valid('param').location, c.req.valid('json'))
      return c.json(LocationResource.one(location))
    },
  )

  .delete(
    '/:location',
    summary('Delete a location without nodes'),
    acl('locations', 'write'),
    params(LocationParams),
    returns(204),
    async (c) => {
      await removeLocation(c.var.panel, c.req.valid('param').location)
      return c.body(null, 204)
    },
  )
