import { randomBytes } from 'node:crypto'
import { Hono } from 'hono'
import type { Daemon } from '../daemon.ts'
import { errorResponse, type DaemonEnv } from '../http-context.ts'
import { PanelError } from '../panel-client.ts'
import { readBody, readString } from '../request-body.ts'

/**
 * Stands in for the SFTP server, which this daemon does not have: authenticates a user with the panel for a caller
 * with the node's token, and gives the panel's response. Wings: POST /api/remote/sftp/auth
 */
export function sftpRoutes(daemon: Daemon): Hono<DaemonEnv> {
  return new Hono<DaemonEnv>().post('/api/development/sftp', async (c) => {
    const body = await readBody(c.req)
    const login = {
      type: readString(body, 'type') || 'password',
      username: readString(body, 'username'),
      password: readString(body, 'password'),
      ip: readString(body, 'ip') || '127.0.0.1:50022',
      session_id: randomBytes(32).toString('base64'),
      client_version: Buffer.from('SSH-2.0-OpenSSH_9.9').toString('base64'),
    }
    try {
      return c.json((await daemon.panel.requestJson('/sftp/auth', login)) as object)
    } catch (error) {
      if (!(error instanceof PanelError)) throw error
      const isFinal = error.status !== undefined && error.status < 500
      return errorResponse(c, isFinal ? 403 : 502, isFinal ? 'invalid credentials' : error.message)
    }
  })
}
