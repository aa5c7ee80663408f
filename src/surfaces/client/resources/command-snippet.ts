import * as z from 'zod'
import type { OwnSnippet, Snippets } from '../../../domain/snippets/snippets.ts'
import { resource } from '../../../http/resource.ts'

type Snippet = Pick<OwnSnippet, 'name' | 'command'> & {
  id: number | null
  source: 'egg' | 'server' | 'account'
}

/** A console command with a name. */
export const CommandSnippetResource = resource(
  'command_snippet',
  () =>
    z.object({
      id: z.int().nullable().describe('Null for those of the egg, which only administrators change'),
      name: z.string(),
      command: z.string(),
      source: z
        .enum(['egg', 'server', 'account'])
        .describe('egg: of all its servers; server: your own, here; account: your own, on all your servers'),
    }),
  ({ id, name, command, source }: Snippet) => ({ id, name, command, source }),
)

/** Returns a snippet of the caller as the resource presents it. */
export const toOwnSnippet = ({ id, name, command, serverId }: OwnSnippet): Snippet => ({
  id,
  name,
  command,
  source: serverId === null ? 'account' : 'server',
})

/** Returns all of them: those of the egg first, in its order. */
export const toSnippets = ({ ofEgg, own }: Snippets): Snippet[] => [
  ...ofEgg.map(({ name, command }) => ({ id: null, name, command, source: 'egg' as const })),
  ...own.map(toOwnSnippet),
]
