import { Hono } from 'hono'
import { changeVariable, describeStartup, VariableInput } from '../../domain/servers/startup-variables.ts'
import { body, returns, summary } from '../../http/route.ts'
import { available, permission, type ServerEnv } from './env.ts'
import { presentStartup, presentVariable, StartupList, VariableWithMeta } from './resources/startup.ts'

/** Spec: Client API, startup. */
export const startup = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the variables of a server and show its start command'),
    available,
    permission('startup.read'),
    returns(200, StartupList),
    async (c) => c.json(presentStartup(await describeStartup(c.var.panel, c.var.reached), c.var.permissions)),
  )

  .put(
    '/variable',
    summary('Change a variable of a server'),
    available,
    permission('startup.update'),
    body(VariableInput),
    returns(200, VariableWithMeta),
    async (c) => {
      const changed = await changeVariable(c.var.panel, c.var.reached, c.req.valid('json'))
      return c.json(presentVariable(changed, c.var.permissions))
    },
  )
