import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { addSnippet, removeSnippet, SnippetInput, snippetsColumn } from '../../domain/snippets/snippets.ts'
import { answerJson } from '../../http/json-text.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { permission, readsOfServer, type ServerEnv } from './middleware.ts'
import { CommandSnippetResource, toOwnSnippet, toSnippets } from './resources/command-snippet.ts'

const SnippetParams = () => z.object({ snippet: pathId() })

/** Console commands with names, of the egg and of the caller. Spec: docs/servers.md#command-snippets. */
export const commandSnippets = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the command snippets of a server'),
    permission('control.console'),
    readsOfServer(snippetsColumn),
    returns(200, CommandSnippetResource.List),
    (c) => answerJson(c, CommandSnippetResource.list(toSnippets(c.get('data')))),
  )

  .post(
    '/',
    summary('Create a command snippet of your own'),
    permission('control.console'),
    body(SnippetInput),
    returns(200, CommandSnippetResource.One),
    async (c) => {
      const snippet = await addSnippet(c.var.panel, c.var.access, c.req.valid('json'))
      return c.json(CommandSnippetResource.one(toOwnSnippet(snippet)))
    },
  )

  .delete(
    '/:snippet',
    summary('Delete a command snippet of your own'),
    permission('control.console'),
    params(SnippetParams),
    returns(204),
    async (c) => {
      await removeSnippet(c.var.panel, c.var.access, c.req.valid('param').snippet)
      return c.body(null, 204)
    },
  )
