import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod'
import { startActing } from '../../domain/auth/acting.ts'
import { csrfToken } from '../../domain/auth/sessions.ts'
import { pathId } from '../../domain/fields.ts'
import { changeUser, verifyUserEmail } from '../../domain/users/changes.ts'
import { resetTwoFactor, resetUserPassword } from '../../domain/users/resets.ts'
import {
  addUser,
  findUser,
  findUserByExternalId,
  listUsers,
  removeUser,
  UserChanges,
  userFilters,
  UserInput,
} from '../../domain/users/users.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { setSessionCookies } from '../../http/session-cookie.ts'
import { answerOne, answerPage } from './answers.ts'
import { createdAt } from './created.ts'
import { acl, rootOr } from './middleware.ts'
import { includesOf } from './relations.ts'
import { ActingSessionResource } from './resources/acting-session.ts'
import { EmailAddressResource } from './resources/email-address.ts'
import { UserPage, UserWithMeta } from './resources/user.ts'

const UserParams = () => z.object({ user: pathId() })
const ExternalIdParams = () => z.object({ external_id: z.string().min(1).max(191) })
const listOptions = {
  filters: userFilters,
  sorts: ['id', 'uuid'],
  perPage: 50,
  maxPerPage: 500,
  hasSearch: true,
}

/** The user; `meta.revocation_errors` names the nodes that could not be notified of a revocation. */
const UpdatedUser = () =>
  z.intersection(UserWithMeta(), z.object({ meta: z.object({ revocation_errors: z.array(z.string()) }) }))

type UserParam = { in: { param: { user: number } }; out: { param: { user: number } } }

/** Refuses with 404 an unknown user, before the body is judged. */
const existingUser = createMiddleware<HttpEnv, string, UserParam>(async (c, next) => {
  await findUser(c.var.panel, c.req.valid('param').user)
  await next()
})

/** Spec: docs/accounts.md#users. */
export const users = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List users'),
    rootOr('users', 'read'),
    listing(listOptions),
    returns(200, UserPage),
    async (c) => {
      const includes = await includesOf(c, 'user')
      const page = await listUsers(c.var.panel, c.req.valid('query'), includes.allowed)
      return answerPage(c, 'user', page, includes)
    },
  )

  .get(
    // An id may contain slashes, which some gateways decode.
    '/external/:external_id{.+}',
    summary('Show the user with an external ID'),
    acl('users', 'read'),
    params(ExternalIdParams),
    returns(200, UserWithMeta),
    async (c) => {
      const includes = await includesOf(c, 'user')
      const user = await findUserByExternalId(c.var.panel, c.req.valid('param').external_id, includes.allowed)
      return answerOne(c, 'user', user, includes)
    },
  )

  .get(
    '/:user',
    summary('Show a user'),
    rootOr('users', 'read'),
    params(UserParams),
    returns(200, UserWithMeta),
    async (c) => {
      const includes = await includesOf(c, 'user')
      const user = await findUser(c.var.panel, c.req.valid('param').user, includes.allowed)
      return answerOne(c, 'user', user, includes)
    },
  )

  .post(
    '/',
    summary('Create a user'),
    acl('users', 'write'),
    body(UserInput),
    returns(201, UserWithMeta),
    async (c) => {
      const includes = await includesOf(c, 'user')
      const { id } = await addUser(c.var.panel, c.req.valid('json'))
      const user = await findUser(c.var.panel, id, includes.allowed)
      return answerOne(c, 'user', user, includes, { status: 201, meta: createdAt(c, `users/${id}`) })
    },
  )

  .patch(
    '/:user',
    summary('Update a user'),
    acl('users', 'write'),
    params(UserParams),
    existingUser,
    body(UserChanges),
    returns(200, UpdatedUser),
    async (c) => {
      const includes = await includesOf(c, 'user')
      const { user, revocationErrors } = await changeUser(
        c.var.panel,
        c.req.valid('param').user,
        c.req.valid('json'),
      )
      const shown = await findUser(c.var.panel, user.id, includes.allowed)
      return answerOne(c, 'user', shown, includes, { meta: { revocation_errors: revocationErrors } })
    },
  )

  .post(
    '/:user/reset-password',
    summary('Reset the password of a user'),
    acl('users', 'write'),
    params(UserParams),
    returns(204),
    async (c) => {
      await resetUserPassword(c.var.panel, c.req.valid('param').user)
      return c.body(null, 204)
    },
  )

  .post(
    '/:user/reset-two-factor',
    summary('Switch off the two-factor authentication of a user'),
    acl('users', 'write'),
    params(UserParams),
    returns(204),
    async (c) => {
      await resetTwoFactor(c.var.panel, c.req.valid('param').user)
      return c.body(null, 204)
    },
  )

  .get(
    '/:user/email',
    summary('Show the e-mail address of a user, whether it is verified, and a pending one'),
    acl('users', 'read'),
    params(UserParams),
    returns(200, EmailAddressResource.One),
    async (c) => c.json(EmailAddressResource.one(await findUser(c.var.panel, c.req.valid('param').user))),
  )

  .post(
    '/:user/email/verify',
    summary('Verify the e-mail address of a user'),
    acl('users', 'write'),
    params(UserParams),
    returns(200, EmailAddressResource.One),
    async (c) =>
      c.json(EmailAddressResource.one(await verifyUserEmail(c.var.panel, c.req.valid('param').user))),
  )

  .post(
    '/:user/act',
    summary('Act for a user in this browser for 15 minutes'),
    acl('users', 'write'),
    acl('servers', 'write'),
    params(UserParams),
    returns(200, ActingSessionResource.One),
    async (c) => {
      const userAgent = c.req.header('user-agent') ?? ''
      const session = await startActing(c.var.panel, c.req.valid('param').user, userAgent)
      const csrf = csrfToken(session.token)
      setSessionCookies(c, c.var.panel.config.url, { token: session.token, csrf, remembered: false })
      return c.json(ActingSessionResource.one(session))
    },
  )

  .delete(
    '/:user',
    summary('Delete a user without servers'),
    acl('users', 'write'),
    params(UserParams),
    returns(204),
    async (c) => {
      await removeUser(c.var.panel, c.req.valid('param').user)
      return c.body(null, 204)
    },
  )
