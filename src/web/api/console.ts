import { queryOptions } from '@tanstack/react-query'
import type { CommandSnippetResource } from '../../surfaces/client/resources/command-snippet.ts'
import { fetchActivity } from './activity.ts'
import { abortedBy, done, json, serverApi } from './client.ts'
import { type AttributesOf, rowsOf } from './resources.ts'

export type Snippet = AttributesOf<typeof CommandSnippetResource>

const maxCommands = 200

/** The commands that were sent to a server, the newest first, as the activity log has them. */
export const commandHistoryQuery = (server: string) =>
  queryOptions({
    queryKey: ['commands', server],
    queryFn: () => fetchActivity({ server }, { event: 'server:console.command' }, maxCommands),
    staleTime: 0,
  })

const snippetsApi = serverApi.console.snippets

/** The commands with names that the console of a server offers. */
export const snippetsQuery = (server: string) =>
  queryOptions({
    queryKey: ['snippets', server],
    queryFn: async ({ signal }) =>
      rowsOf(await json(snippetsApi.$get({ param: { server } }, abortedBy(signal)))),
  })

/** Keeps a command under a name. */
export const addSnippet = (server: string, values: { name: string; command: string; all_servers: boolean }) =>
  done(snippetsApi.$post({ param: { server }, json: values }))

/** Removes a command that the user keeps. */
export const removeSnippet = (server: string, id: number) =>
  done(snippetsApi[':snippet'].$delete({ param: { server, snippet: String(id) } }))
