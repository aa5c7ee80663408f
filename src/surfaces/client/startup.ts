import { Hono } from 'hono'
import { changeVariable, describeStartup, VariableInput } from '../../domain/servers/startup-variables.ts'
import { body, returns, summary } from '../../http/route.ts'
import { available, permission, type ServerEnv } from './middleware.ts'
import { presentStartup, presentVariable, StartupList, VariableWithMeta } from './resources/startup.ts'

/** Spec: docs/servers.md#variables. */
export const startup = new Hono<ServerEnv>()
  .get(
    '/',
    summary('Show the startup variables and command of a server'),
    available,
    permission('startup.read'),
    returns(200, StartupList),
    async (c) =>
      c.json(presentStartup(await describeStartup(c.var.panel, c.var.access), c.var.access.permissions)),
  )

  .put(
    '/variable',
    summary('Update a startup variable'),
    available,
    permission('startup.update'),
    body(VariableInput),
    returns(200, VariableWithMeta),
    async (c) => {
      const changed = await changeVariable(c.var.panel, c.var.access, c.req.valid('json'))
      return c.json(presentVariable(changed, c.var.access.permissions))
    },
  )
