import { Hono } from 'hono'
import * as z from 'zod'
import { hasAccessLevel } from '../../domain/auth/access-levels.ts'
import { addEgg, changeEgg } from '../../domain/eggs/change.ts'
import { type EggDifference, previewEggImport } from '../../domain/eggs/difference.ts'
import { duplicateEgg, EggDuplicateInput } from '../../domain/eggs/duplicate.ts'
import { findEgg, listEggs } from '../../domain/eggs/eggs.ts'
import { exportEggFromNest } from '../../domain/eggs/export.ts'
import { EggFetchInput, fetchEgg } from '../../domain/eggs/fetch.ts'
import { refuseEggFaults } from '../../domain/eggs/format-error.ts'
import { importEggIntoNest } from '../../domain/eggs/import.ts'
import { EggChanges, EggInput } from '../../domain/eggs/input.ts'
import { removeEgg } from '../../domain/eggs/remove.ts'
import { parseEggYaml } from '../../domain/eggs/yaml.ts'
import { boolean, pathId, rowId } from '../../domain/fields.ts'
import { refuseOtherMethods } from '../../http/errors.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import type { BodyFormat } from '../../http/request-body.ts'
import { body, params, query, returns, summary } from '../../http/route.ts'
import type { Panel } from '../../panel.ts'
import { answerList, answerOne } from './answers.ts'
import { created } from './created.ts'
import { acl } from './middleware.ts'
import { includesOf } from './relations.ts'
import { EggDifferenceResource } from './resources/egg-difference.ts'
import { AnyEggDocument, EggDocument } from './resources/egg-document.ts'
import { EggResource } from './resources/egg.ts'

/** Bytes of an egg, including its install script. */
const maxEggBytes = 1024 * 1024

const NestParams = () => z.object({ nest: pathId() })
const EggParams = () => z.object({ nest: pathId(), egg: pathId() })

const ReplacedEgg = () => rowId().optional().describe('Egg to replace, whatever its name and origin')
const ImportQuery = () =>
  z.object({
    replace: boolean().optional().describe('Whether to replace an egg of another origin'),
    egg: ReplacedEgg(),
    checksum: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'regex')
      .optional()
      .describe('Checksum of the preview: 409 when the egg has changed since'),
  })
const PreviewQuery = () => z.object({ egg: ReplacedEgg() })

/** How egg documents are sent. */
const documentBody = () =>
  body(AnyEggDocument, { limit: maxEggBytes, preserveWhitespace: true, format: yaml, ignoresQuery: true })

/** Egg documents of Pelican. */
const yaml: BodyFormat = {
  type: 'application/yaml',
  synonyms: ['application/x-yaml', 'text/yaml', 'text/x-yaml'],
  parse: (text) => refuseEggFaults(() => parseEggYaml(text)),
}

const ImportAnswer = () =>
  z.intersection(
    EggResource.One(),
    z.object({ meta: z.object({ state: z.enum(['new', 'updated']), warnings: z.array(z.string()) }) }),
  )

/** Leaves out the names of servers for a caller who may not read servers; their number stays. */
const withReadableServers = ({ actor }: Panel, difference: EggDifference): EggDifference =>
  hasAccessLevel(actor, 'servers', 'read')
    ? difference
    : { ...difference, servers: { ...difference.servers, first: [] } }

/** Documents of eggs elsewhere. Spec: docs/eggs.md#import-from-a-url. */
export const eggSources = new Hono<HttpEnv>().post(
  '/fetch',
  summary('Fetch an egg document from an https URL'),
  acl('eggs', 'write'),
  body(EggFetchInput),
  returns(200, AnyEggDocument),
  async (c) => c.json(await fetchEgg(c.var.panel, c.req.valid('json'))),
)

/** The eggs of a nest. Spec: docs/eggs.md#nests-and-eggs. */
export const eggs = new Hono<HttpEnv>()
  .get(
    '/:nest/eggs',
    summary('List the eggs of a nest'),
    acl('eggs', 'read'),
    params(NestParams),
    returns(200, EggResource.List),
    async (c) => {
      const includes = await includesOf(c, 'egg')
      const eggs = await listEggs(c.var.panel, c.req.valid('param').nest, includes.allowed)
      return answerList(c, 'egg', eggs, includes)
    },
  )

  .post(
    '/:nest/eggs/import',
    summary(
      'Import an egg (PTDL_v1, PTDL_v2, PLCN_v1 to PLCN_v3), as a new egg or over the one of that name',
    ),
    acl('eggs', 'write'),
    params(NestParams),
    query(ImportQuery),
    documentBody(),
    returns(200, ImportAnswer),
    async (c) => {
      const { nest } = c.req.valid('param')
      const { replace = false, egg: eggId, checksum } = c.req.valid('query')
      const options = {
        replacesOther: replace,
        ...(eggId === undefined ? {} : { eggId }),
        ...(checksum === undefined ? {} : { checksum }),
      }
      const imported = await importEggIntoNest(c.var.panel, nest, c.req.valid('json'), options)
      const { egg, isNew, warnings } = imported
      return c.json({ ...EggResource.one(egg), meta: { state: isNew ? 'new' : 'updated', warnings } })
    },
  )
  .use('/:nest/eggs/import', refuseOtherMethods)

  .post(
    '/:nest/eggs/import/preview',
    summary('Preview an import: what would change, and for which servers'),
    acl('eggs', 'write'),
    params(NestParams),
    query(PreviewQuery),
    documentBody(),
    returns(200, EggDifferenceResource.One),
    async (c) => {
      const { panel } = c.var
      const { egg } = c.req.valid('query')
      const difference = await previewEggImport(panel, c.req.valid('param').nest, c.req.valid('json'), egg)
      return c.json(EggDifferenceResource.one(withReadableServers(panel, difference)))
    },
  )

  .get(
    '/:nest/eggs/:egg',
    summary('Show an egg'),
    acl('eggs', 'read'),
    params(EggParams),
    returns(200, EggResource.One),
    async (c) => {
      const includes = await includesOf(c, 'egg')
      const { nest, egg } = c.req.valid('param')
      return answerOne(c, 'egg', await findEgg(c.var.panel, nest, egg, includes.allowed), includes)
    },
  )

  .post(
    '/:nest/eggs',
    summary('Create an egg'),
    acl('eggs', 'write'),
    params(NestParams),
    body(EggInput, { limit: maxEggBytes, preserveWhitespace: true }),
    returns(201, EggResource.One),
    async (c) => {
      const egg = await addEgg(c.var.panel, c.req.valid('param').nest, c.req.valid('json'))
      return created(c, `nests/${egg.nestId}/eggs/${egg.id}`, EggResource.one(egg))
    },
  )

  .post(
    '/:nest/eggs/:egg/duplicate',
    summary('Duplicate an egg with its variables'),
    acl('eggs', 'write'),
    params(EggParams),
    body(EggDuplicateInput),
    returns(201, EggResource.One),
    async (c) => {
      const { nest, egg } = c.req.valid('param')
      const copy = await duplicateEgg(c.var.panel, nest, egg, c.req.valid('json'))
      return created(c, `nests/${nest}/eggs/${copy.id}`, EggResource.one(copy))
    },
  )

  .get(
    '/:nest/eggs/:egg/export',
    summary('Export an egg as PTDL_v2, with what it inherits'),
    acl('eggs', 'read'),
    params(EggParams),
    returns(200, EggDocument),
    async (c) => {
      const { nest, egg } = c.req.valid('param')
      return c.json(await exportEggFromNest(c.var.panel, nest, egg))
    },
  )

  .patch(
    '/:nest/eggs/:egg',
    summary('Update an egg'),
    acl('eggs', 'write'),
    params(EggParams),
    body(EggChanges, { limit: maxEggBytes, preserveWhitespace: true }),
    returns(200, EggResource.One),
    async (c) => {
      const { nest, egg } = c.req.valid('param')
      return c.json(EggResource.one(await changeEgg(c.var.panel, nest, egg, c.req.valid('json'))))
    },
  )

  .delete(
    '/:nest/eggs/:egg',
    summary('Delete an egg that no server uses and no egg extends'),
    acl('eggs', 'write'),
    params(EggParams),
    returns(204),
    async (c) => {
      const { nest, egg } = c.req.valid('param')
      await removeEgg(c.var.panel, nest, egg)
      return c.body(null, 204)
    },
  )
