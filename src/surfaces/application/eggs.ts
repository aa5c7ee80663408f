import { Hono } from 'hono'
import * as z from 'zod'
import { addEgg, changeEgg } from '../../domain/eggs/change.ts'
import { EggChanges, EggInput } from '../../domain/eggs/input.ts'
import { removeEgg } from '../../domain/eggs/remove.ts'
import { exportFromNest, importIntoNest } from '../../domain/eggs/transport.ts'
import { pathId } from '../../domain/fields.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { exactBody } from '../../http/exact-body.ts'
import { params, returns, summary } from '../../http/route.ts'
import { created } from './created.ts'
import { acl } from './env.ts'
import { EggResource } from './resources/egg.ts'
import { AnyEggDocument, EggDocumentShape } from './resources/egg-document.ts'

/** Bytes of an egg with its script. */
const eggLimit = 1024 * 1024

const ByNest = () => z.object({ nest: pathId() })
const ById = () => z.object({ nest: pathId(), egg: pathId() })

const Imported = () =>
  z.intersection(
    EggResource.One(),
    z.object({ meta: z.object({ state: z.enum(['new', 'updated']), warnings: z.array(z.string()) }) }),
  )

/** Eggs as administrators change them; reading them is in `nests.ts`. */
export const eggs = new Hono<HttpEnv>()
  .post(
    '/:nest/eggs',
    summary('Add an egg without variables'),
    acl('eggs', 'write'),
    params(ByNest),
    exactBody(EggInput, eggLimit),
    returns(201, EggResource.One),
    async (c) => {
      const egg = await addEgg(c.var.panel, c.req.valid('param').nest, c.req.valid('json'))
      return created(c, `nests/${egg.nestId}/eggs/${egg.id}`, EggResource.one(egg))
    },
  )

  .post(
    '/:nest/eggs/import',
    summary(
      'Import an egg document (PTDL_v1, PTDL_v2, PLCN_v1 to PLCN_v3), new or over the egg of that name',
    ),
    acl('eggs', 'write'),
    params(ByNest),
    exactBody(AnyEggDocument, eggLimit),
    returns(200, Imported),
    async (c) => {
      const imported = await importIntoNest(c.var.panel, c.req.valid('param').nest, c.req.valid('json'))
      const { egg, isNew, warnings } = imported
      return c.json({ ...EggResource.one(egg), meta: { state: isNew ? 'new' : 'updated', warnings } })
    },
  )

  .get(
    '/:nest/eggs/:egg/export',
    summary('Export an egg as a PTDL_v2 document, what it takes from other eggs written out'),
    acl('eggs', 'read'),
    params(ById),
    returns(200, EggDocumentShape),
    async (c) => {
      const { nest, egg } = c.req.valid('param')
      return c.json(await exportFromNest(c.var.panel, nest, egg))
    },
  )

  .patch(
    '/:nest/eggs/:egg',
    summary('Change an egg'),
    acl('eggs', 'write'),
    params(ById),
    exactBody(EggChanges, eggLimit),
    returns(200, EggResource.One),
    async (c) => {
      const { nest, egg } = c.req.valid('param')
      return c.json(EggResource.one(await changeEgg(c.var.panel, nest, egg, c.req.valid('json'))))
    },
  )

  .delete(
    '/:nest/eggs/:egg',
    summary('Remove an egg without servers from which no other egg takes'),
    acl('eggs', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      const { nest, egg } = c.req.valid('param')
      await removeEgg(c.var.panel, nest, egg)
      return c.body(null, 204)
    },
  )
