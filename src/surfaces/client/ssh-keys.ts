import { Hono } from 'hono'
import {
  addSshKey,
  listSshKeys,
  removeSshKey,
  SshKeyInput,
  SshKeyRemoval,
} from '../../domain/accounts/ssh-keys.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, returns, summary } from '../../http/route.ts'
import { signedIn } from './middleware.ts'
import { SshKeyResource } from './resources/ssh-key.ts'

/** Spec: docs/accounts.md#ssh-keys. */
export const sshKeys = new Hono<HttpEnv>()
  .get('/', summary('List your SSH keys'), signedIn, returns(200, SshKeyResource.List), async (c) =>
    c.json(SshKeyResource.list(await listSshKeys(c.var.panel))),
  )

  .post(
    '/',
    summary('Add an SSH key'),
    signedIn,
    body(SshKeyInput),
    returns(200, SshKeyResource.One),
    async (c) => c.json(SshKeyResource.one(await addSshKey(c.var.panel, c.req.valid('json')))),
  )

  .post(
    '/remove',
    summary('Delete the SSH key with a fingerprint'),
    signedIn,
    body(SshKeyRemoval),
    returns(204),
    async (c) => {
      await removeSshKey(c.var.panel, c.req.valid('json').fingerprint)
      return c.body(null, 204)
    },
  )
