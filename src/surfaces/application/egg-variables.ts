import { Hono } from 'hono'
import * as z from 'zod'
import {
  addEggVariable,
  changeEggVariable,
  EggVariableChanges,
  EggVariableInput,
  type JudgedVariable,
  removeEggVariable,
} from '../../domain/eggs/variables.ts'
import { pathId } from '../../domain/fields.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { exactBody } from '../../http/exact-body.ts'
import { params, returns, summary } from '../../http/route.ts'
import { acl } from './env.ts'
import { EggVariableResource } from './resources/egg-variable.ts'

const ByEgg = () => z.object({ nest: pathId(), egg: pathId() })
const ById = () => z.object({ nest: pathId(), egg: pathId(), variable: pathId() })

/** The variable, and in `meta.warnings` which of its rules cannot be used. */
const Judged = () =>
  z.intersection(EggVariableResource.One(), z.object({ meta: z.object({ warnings: z.array(z.string()) }) }))

const present = ({ variable, warnings }: JudgedVariable) => ({
  ...EggVariableResource.one(variable),
  meta: { warnings },
})

/** Variables of an egg; they are read with `include=variables`. */
export const eggVariables = new Hono<HttpEnv>()
  .post(
    '/:nest/eggs/:egg/variables',
    summary('Add a variable to an egg'),
    acl('eggs', 'write'),
    params(ByEgg),
    exactBody(EggVariableInput),
    returns(201, Judged),
    async (c) => {
      const judged = await addEggVariable(c.var.panel, c.req.valid('param'), c.req.valid('json'))
      return c.json(present(judged), 201)
    },
  )

  .patch(
    '/:nest/eggs/:egg/variables/:variable',
    summary('Change a variable; with another env_variable the values of servers move to that name'),
    acl('eggs', 'write'),
    params(ById),
    exactBody(EggVariableChanges),
    returns(200, Judged),
    async (c) =>
      c.json(present(await changeEggVariable(c.var.panel, c.req.valid('param'), c.req.valid('json')))),
  )

  .delete(
    '/:nest/eggs/:egg/variables/:variable',
    summary('Remove a variable; servers keep their values unseen'),
    acl('eggs', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await removeEggVariable(c.var.panel, c.req.valid('param'))
      return c.body(null, 204)
    },
  )
