import { Hono } from 'hono'
import * as z from 'zod'
import { authenticateSftp, SftpLogin, type SftpSession } from '../../domain/auth/sftp-login.ts'
import { body, returns, summary } from '../../http/route.ts'
import { type RemoteEnv, serversOfNode } from './middleware.ts'

const SftpSessionAnswer = () =>
  z.strictObject({ user: z.uuid(), server: z.uuid(), permissions: z.array(z.string()) })

const presentSession = ({ user, server, permissions }: SftpSession) => ({
  user: user.uuid,
  server: server.uuid,
  permissions: [...permissions],
})

/** Spec: postRemoteSftpAuth. */
export const sftp = new Hono<RemoteEnv>().post(
  '/auth',
  summary('Authenticate an SFTP login'),
  serversOfNode,
  body(SftpLogin),
  returns(200, SftpSessionAnswer),
  async (c) => c.json(presentSession(await authenticateSftp(c.var.panel, c.var.node, c.req.valid('json')))),
)
