import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import {
  endSessionsOfUser,
  listApiKeysOfUser,
  listIdentitiesOfUser,
  listPasskeysOfUser,
  listSessionsOfUser,
  listSshKeysOfUser,
  removeApiKeyOfUser,
  removeIdentityOfUser,
  removePasskeyOfUser,
  removeSshKeyOfUser,
} from '../../domain/users/credentials.ts'
import { suspendSignIn, unsuspendSignIn } from '../../domain/users/suspension.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { params, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import {
  UserApiKeyResource,
  UserIdentityResource,
  UserPasskeyResource,
  UserSessionResource,
  UserSshKeyResource,
} from './resources/user-credentials.ts'

const UserParams = () => z.object({ user: pathId() })
const SessionParams = () => UserParams().extend({ session: z.string().regex(/^[0-9a-f]{32}$/) })
const KeyParams = () => UserParams().extend({ identifier: z.string().regex(/^\w{16}$/) })
const SshKeyParams = () => UserParams().extend({ ssh_key: pathId() })
const PasskeyParams = () => UserParams().extend({ passkey: pathId() })
const IdentityParams = () => UserParams().extend({ identity: pathId() })

/** How a user signs in: an extension of the ecosystem's API. Spec: docs/accounts.md#credentials-of-a-user. */
export const userCredentials = new Hono<HttpEnv>()
  .get(
    '/:user/sessions',
    summary('List the sessions of a user'),
    acl('users', 'read'),
    params(UserParams),
    returns(200, UserSessionResource.List),
    async (c) =>
      c.json(UserSessionResource.list(await listSessionsOfUser(c.var.panel, c.req.valid('param').user))),
  )
  .delete(
    '/:user/sessions',
    summary('End all sessions of a user'),
    acl('users', 'write'),
    params(UserParams),
    returns(204),
    async (c) => {
      await endSessionsOfUser(c.var.panel, c.req.valid('param').user, null)
      return c.body(null, 204)
    },
  )
  .delete(
    '/:user/sessions/:session',
    summary('End a session of a user'),
    acl('users', 'write'),
    params(SessionParams),
    returns(204),
    async (c) => {
      const { user, session } = c.req.valid('param')
      await endSessionsOfUser(c.var.panel, user, session)
      return c.body(null, 204)
    },
  )
  .get(
    '/:user/api-keys',
    summary('List the account API keys of a user'),
    acl('users', 'read'),
    params(UserParams),
    returns(200, UserApiKeyResource.List),
    async (c) =>
      c.json(UserApiKeyResource.list(await listApiKeysOfUser(c.var.panel, c.req.valid('param').user))),
  )
  .delete(
    '/:user/api-keys/:identifier',
    summary('Delete an account API key of a user'),
    acl('users', 'write'),
    params(KeyParams),
    returns(204),
    async (c) => {
      const { user, identifier } = c.req.valid('param')
      await removeApiKeyOfUser(c.var.panel, user, identifier)
      return c.body(null, 204)
    },
  )
  .get(
    '/:user/ssh-keys',
    summary('List the SSH keys of a user'),
    acl('users', 'read'),
    params(UserParams),
    returns(200, UserSshKeyResource.List),
    async (c) =>
      c.json(UserSshKeyResource.list(await listSshKeysOfUser(c.var.panel, c.req.valid('param').user))),
  )
  .delete(
    '/:user/ssh-keys/:ssh_key',
    summary('Delete an SSH key of a user'),
    acl('users', 'write'),
    params(SshKeyParams),
    returns(204),
    async (c) => {
      const { user, ssh_key } = c.req.valid('param')
      await removeSshKeyOfUser(c.var.panel, user, ssh_key)
      return c.body(null, 204)
    },
  )
  .get(
    '/:user/passkeys',
    summary('List the passkeys of a user'),
    acl('users', 'read'),
    params(UserParams),
    returns(200, UserPasskeyResource.List),
    async (c) =>
      c.json(UserPasskeyResource.list(await listPasskeysOfUser(c.var.panel, c.req.valid('param').user))),
  )
  .delete(
    '/:user/passkeys/:passkey',
    summary('Delete a passkey of a user'),
    acl('users', 'write'),
    params(PasskeyParams),
    returns(204),
    async (c) => {
      const { user, passkey } = c.req.valid('param')
      await removePasskeyOfUser(c.var.panel, user, passkey)
      return c.body(null, 204)
    },
  )
  .get(
    '/:user/identities',
    summary('List the linked accounts of a user'),
    acl('users', 'read'),
    params(UserParams),
    returns(200, UserIdentityResource.List),
    async (c) =>
      c.json(UserIdentityResource.list(await listIdentitiesOfUser(c.var.panel, c.req.valid('param').user))),
  )
  .delete(
    '/:user/identities/:identity',
    summary('Unlink an account of a user'),
    acl('users', 'write'),
    params(IdentityParams),
    returns(204),
    async (c) => {
      const { user, identity } = c.req.valid('param')
      await removeIdentityOfUser(c.var.panel, user, identity)
      return c.body(null, 204)
    },
  )
  .post(
    '/:user/suspend',
    summary('Suspend the sign-in of a user'),
    acl('users', 'write'),
    params(UserParams),
    returns(204),
    async (c) => {
      await suspendSignIn(c.var.panel, c.req.valid('param').user)
      return c.body(null, 204)
    },
  )
  .post(
    '/:user/unsuspend',
    summary('Allow a user to sign in again'),
    acl('users', 'write'),
    params(UserParams),
    returns(204),
    async (c) => {
      await unsuspendSignIn(c.var.panel, c.req.valid('param').user)
      return c.body(null, 204)
    },
  )
