import { Hono } from 'hono'
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
} from '../../domain/locations.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { created } from './created.ts'
import { acl } from './env.ts'
import { includesOf, presentOne, presentPage } from './relations.ts'
import { LocationResource } from './resources/location.ts'

const ById = () => z.object({ location: pathId() })
const List = { filters: ['short', 'long'], sorts: ['id'], perPage: 50, mostPerPage: 500 }

/** Spec: Application API, locations. */
export const locations = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List locations'),
    acl('locations', 'read'),
    listing(List),
    returns(200, LocationResource.Page),
    async (c) => {
      const includes = includesOf(c, 'location')
      const page = await listLocations(c.var.panel, c.req.valid('query'), includes.allowed)
      return c.json(presentPage('location', page, includes, publicUrl(c)))
    },
  )

  .get(
    '/:location',
    summary('Show a location'),
    acl('locations', 'read'),
    params(ById),
    returns(200, LocationResource.One),
    async (c) => {
      const includes = includesOf(c, 'location')
      const location = await findLocation(c.var.panel, c.req.valid('param').location, includes.allowed)
      return c.json(presentOne('location', location, includes))
    },
  )

  .post(
    '/',
    summary('Add a location'),
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
    summary('Change a location'),
    acl('locations', 'write'),
    params(ById),
    body(LocationChanges),
    returns(200, LocationResource.One),
    async (c) => {
      const location = await changeLocation(c.var.panel, c.req.valid('param').location, c.req.valid('json'))
      return c.json(LocationResource.one(location))
    },
  )

  .delete(
    '/:location',
    summary('Remove an empty location'),
    acl('locations', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await removeLocation(c.var.panel, c.req.valid('param').location)
      return c.body(null, 204)
    },
  )
