import { Hono } from 'hono'
import * as z from 'zod'
import {
  addSubuser,
  changeSubuser,
  findSubuser,
  listSubusers,
  type Member,
  removeSubuser,
  SubuserChanges,
  SubuserInput,
} from '../../domain/subusers.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, permission, perServer, type ServerEnv } from './env.ts'
import { SubuserResource } from './resources/subuser.ts'

const ByUuid = () => z.object({ user: z.guid() })

/** Pictures stand below the panel's own address. */
const shown = (c: { var: ServerEnv['Variables'] }, member: Member) => ({
  ...member,
  panelUrl: c.var.panel.config.url,
})

/** Spec: Client API, subusers. */
export const users = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the people who were let in'),
    available,
    permission('user.read'),
    returns(200, SubuserResource.List),
    async (c) => {
      const members = await listSubusers(c.var.panel, c.var.reached)
      return c.json(SubuserResource.list(members.map((member) => shown(c, member))))
    },
  )

  .post(
    '/',
    summary('Let somebody in, by e-mail address'),
    available,
    permission('user.create'),
    throttle({ name: 'subusers', limit: 10, seconds: 900, key: perServer }),
    body(SubuserInput),
    returns(200, SubuserResource.One),
    async (c) =>
      c.json(
        SubuserResource.one(shown(c, await addSubuser(c.var.panel, c.var.reached, c.req.valid('json')))),
      ),
  )

  .get(
    '/:user',
    summary('Show somebody who was let in'),
    available,
    permission('user.read'),
    params(ByUuid),
    returns(200, SubuserResource.One),
    async (c) =>
      c.json(
        SubuserResource.one(
          shown(c, await findSubuser(c.var.panel, c.var.reached, c.req.valid('param').user)),
        ),
      ),
  )

  .post(
    '/:user',
    summary('Replace what somebody may do'),
    available,
    permission('user.update'),
    params(ByUuid),
    body(SubuserChanges),
    returns(200, SubuserResource.One),
    async (c) => {
      const { user } = c.req.valid('param')
      const member = await changeSubuser(c.var.panel, c.var.reached, user, c.req.valid('json'))
      return c.json(SubuserResource.one(shown(c, member)))
    },
  )

  .delete(
    '/:user',
    summary('Let somebody in no more'),
    available,
    permission('user.delete'),
    params(ByUuid),
    returns(204),
    async (c) => {
      await removeSubuser(c.var.panel, c.var.reached, c.req.valid('param').user)
      return c.body(null, 204)
    },
  )
