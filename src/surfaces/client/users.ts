import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod'
import {
  addSubuser,
  changeSubuser,
  findSubuser,
  listSubusers,
  removeSubuser,
  SubuserChanges,
  SubuserInput,
  type SubuserWithUser,
} from '../../domain/subusers/subusers.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, permission, perServer, type ServerEnv } from './middleware.ts'
import { SubuserResource } from './resources/subuser.ts'

const UserParams = () => z.object({ user: z.guid() })

/** Adds the panel's origin, under which avatars are served. */
const withPanelUrl = (c: { var: ServerEnv['Variables'] }, member: SubuserWithUser) => ({
  ...member,
  panelUrl: c.var.panel.config.url,
})

type UserParam = { in: { param: { user: string } }; out: { param: { user: string } } }

/** Refuses with 403 the caller's own record, before the body is judged (AZ-5). */
const refuseOwnRecord = createMiddleware<ServerEnv, string, UserParam>(async (c, next) => {
  const { panel, access } = c.var
  const { user } = c.req.valid('param')
  const isOwn = panel.actor.kind === 'user' && panel.actor.user.uuid === user.toLowerCase()
  if (isOwn) await findSubuser(panel, access, user)
  await next()
})

/** Spec: docs/servers.md#subusers. */
export const users = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the subusers of a server'),
    available,
    permission('user.read'),
    returns(200, SubuserResource.List),
    async (c) => {
      const members = await listSubusers(c.var.panel, c.var.access)
      return c.json(SubuserResource.list(members.map((member) => withPanelUrl(c, member))))
    },
  )

  .post(
    '/',
    summary('Invite a subuser'),
    available,
    permission('user.create'),
    throttle({ name: 'subusers', limit: 10, seconds: 900, key: perServer }),
    body(SubuserInput),
    returns(200, SubuserResource.One),
    async (c) =>
      c.json(
        SubuserResource.one(
          withPanelUrl(c, await addSubuser(c.var.panel, c.var.access, c.req.valid('json'))),
        ),
      ),
  )

  .get(
    '/:user',
    summary('Show a subuser'),
    available,
    permission('user.read'),
    params(UserParams),
    returns(200, SubuserResource.One),
    async (c) =>
      c.json(
        SubuserResource.one(
          withPanelUrl(c, await findSubuser(c.var.panel, c.var.access, c.req.valid('param').user)),
        ),
      ),
  )

  .post(
    '/:user',
    summary('Update the permissions of a subuser'),
    available,
    permission('user.update'),
    params(UserParams),
    refuseOwnRecord,
    body(SubuserChanges),
    returns(200, SubuserResource.One),
    async (c) => {
      const { user } = c.req.valid('param')
      const member = await changeSubuser(c.var.panel, c.var.access, user, c.req.valid('json'))
      return c.json(SubuserResource.one(withPanelUrl(c, member)))
    },
  )

  .delete(
    '/:user',
    summary('Delete a subuser'),
    available,
    permission('user.delete'),
    params(UserParams),
    returns(204),
    async (c) => {
      await removeSubuser(c.var.panel, c.var.access, c.req.valid('param').user)
      return c.body(null, 204)
    },
  )
