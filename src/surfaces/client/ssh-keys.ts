import { Hono } from 'hono'
import {
  addSshKey,
  listSshKeys,
  removeSshKey,
  SshKeyInput,
  SshKeyRemoval,
} from '../../domain/account/ssh-keys.ts'
import { body, returns, summary } from '../../http/route.ts'
import { type ClientEnv, signedIn } from './env.ts'
import { SshKeyResource } from './resources/ssh-key.ts'

/** Spec: Client API, account: the caller's keys for SFTP. */
export const sshKeys = new Hono<ClientEnv>()
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
    summary('Take the SSH key with this fingerprint away'),
    signedIn,
    body(SshKeyRemoval),
    returns(204),
    async (c) => {
      await removeSshKey(c.var.panel, c.req.valid('json').fingerprint)
      return c.body(null, 204)
    },
  )
