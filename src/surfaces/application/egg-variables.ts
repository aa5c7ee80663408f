import { Hono } from 'hono'
import * as z from 'zod'
import {
  addEggVariable,
  changeEggVariable,
  EggVariableChanges,
  EggVariableInput,
  removeEggVariable,
  type VariableWithWarnings,
} from '../../domain/eggs/variables.ts'
import { pathId } from '../../domain/fields.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { EggVariableResource } from './resources/egg-variable.ts'

const EggParams = () => z.object({ nest: pathId(), egg: pathId() })
const VariableParams = () => z.object({ nest: pathId(), egg: pathId(), variable: pathId() })

/** The variable; `meta.warnings` names the rules that cannot be enforced. */
const VariableAnswer = () =>
  z.intersection(EggVariableResource.One(), z.object({ meta: z.object({ warnings: z.array(z.string()) }) }))

const present = ({ variable, warnings }: VariableWithWarnings) => ({
  ...EggVariableResource.one(variable),
  meta: { warnings },
})

/** The variables of an egg; `include=variables` on the egg reads them. */
export const eggVariables = new Hono<HttpEnv>()
  .post(
    '/:nest/eggs/:egg/variables',
    summary('Create a variable of an egg'),
    acl('eggs', 'write'),
    params(EggParams),
    body(EggVariableInput, { preserveWhitespace: true }),
    returns(201, VariableAnswer),
    async (c) => {
      const result = await addEggVariable(c.var.panel, c.req.valid('param'), c.req.valid('json'))
      return c.json(present(result), 201)
    },
  )

  .patch(
    '/:nest/eggs/:egg/variables/:variable',
    summary('Update a variable of an egg; a new env_variable renames the values of its servers'),
    acl('eggs', 'write'),
    params(VariableParams),
    body(EggVariableChanges, { preserveWhitespace: true }),
    returns(200, VariableAnswer),
    async (c) =>
      c.json(present(await changeEggVariable(c.var.panel, c.req.valid('param'), c.req.valid('json')))),
  )

  .delete(
    '/:nest/eggs/:egg/variables/:variable',
    summary('Delete a variable of an egg; servers keep their stored values'),
    acl('eggs', 'write'),
    params(VariableParams),
    returns(204),
    async (c) => {
      await removeEggVariable(c.var.panel, c.req.valid('param'))
      return c.body(null, 204)
    },
  )
