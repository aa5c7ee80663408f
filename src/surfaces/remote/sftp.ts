import { Hono } from 'hono'
import * as z from 'zod'
import { openSftpSession, SftpLogin, type SftpSession } from '../../domain/sftp.ts'
import { body, returns, summary } from '../../http/route.ts'
import { ownServers, type RemoteEnv } from './env.ts'

const Session = () => z.strictObject({ user: z.uuid(), server: z.uuid(), permissions: z.array(z.string()) })

const session = ({ user, server, permissions }: SftpSession) => ({
  user: user.uuid,
  server: server.uuid,
  permissions: [...permissions],
})

/** Spec: Remote API, SFTP. */
export const sftp = new Hono<RemoteEnv>().post(
  '/auth',
  summary('Log somebody in to the files of a server'),
  ownServers,
  body(SftpLogin),
  returns(200, Session),
  async (c) => c.json(session(await openSftpSession(c.var.panel, c.var.node, c.req.valid('json')))),
)
