import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { changeNotes, findNotes, NotesInput } from '../../domain/servers/notes.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { ServerNotesResource } from './resources/server-notes.ts'

const ServerParams = () => z.object({ server: pathId() })

/** Notes about servers, which only administrators see: an extension of the ecosystem's API. */
export const serverNotes = new Hono<HttpEnv>()
  .get(
    '/:server/notes',
    summary('Show the notes of administrators about a server'),
    acl('servers', 'read'),
    params(ServerParams),
    returns(200, ServerNotesResource.One),
    async (c) => c.json(ServerNotesResource.one(await findNotes(c.var.panel, c.req.valid('param').server))),
  )

  .put(
    '/:server/notes',
    summary('Replace the notes of administrators about a server'),
    acl('servers', 'write'),
    params(ServerParams),
    body(NotesInput),
    returns(200, ServerNotesResource.One),
    async (c) => {
      const notes = await changeNotes(c.var.panel, c.req.valid('param').server, c.req.valid('json'))
      return c.json(ServerNotesResource.one(notes))
    },
  )
