import { queryOptions } from '@tanstack/react-query'
import type { presentTrash } from '../../surfaces/client/resources/trash-item.ts'
import { request } from './request.ts'

export type TrashPage = ReturnType<typeof presentTrash>
export type TrashItem = TrashPage['data'][number]

/** Names that one request may put into the trash. */
const mostNames = 100
/** Milliseconds after which items on their way are looked for again. */
const betweenLooks = 4000

const base = (server: string) => `/api/client/servers/${server}/trash`

/** One page of the trash, newest first; 403 where it is switched off. */
export const trashPage = (server: string, page: number, signal?: AbortSignal) =>
  request<TrashPage>('GET', base(server), { query: { page }, ...(signal ? { signal } : {}) })

/** The same, kept, and looked at again while something is on its way. */
export const trashQuery = (server: string, page: number) =>
  queryOptions({
    queryKey: ['trash', server, page],
    queryFn: ({ signal }) => trashPage(server, page, signal),
    refetchInterval: ({ state }) => (state.data?.data.some(({ ready }) => !ready) ? betweenLooks : false),
  })

/** Things of one folder are in the trash. */
export async function moveToTrash(server: string, root: string, names: readonly string[]): Promise<void> {
  for (let start = 0; start < names.length; start += mostNames) {
    // oxlint-disable-next-line no-await-in-loop -- in turn, as the panel takes them
    await request<void>('POST', base(server), {
      body: { root, files: names.slice(start, start + mostNames) },
    })
  }
}

/** An item is back where it was. Refused with 409 when anything is there. */
export const restoreFromTrash = (server: string, item: string) =>
  request<void>('POST', `${base(server)}/${item}/restore`)

/** An item is gone for good. */
export const purgeFromTrash = (server: string, item: string) =>
  request<void>('DELETE', `${base(server)}/${item}`)
