import { queryOptions } from '@tanstack/react-query'
import type { presentTrash } from '../../surfaces/client/resources/trash-item.ts'
import { abortedBy, done, json, serverApi } from './client.ts'

export type TrashPage = ReturnType<typeof presentTrash>
export type TrashItem = TrashPage['data'][number]

/** The panel accepts at most this many names in one request. */
const maxNamesPerRequest = 100
const pollIntervalMs = 4000

const { trash } = serverApi

/** Fetches one page of the trash, newest first. Refused with 403 where the trash is turned off. */
export const trashPage = (server: string, page: number, signal?: AbortSignal): Promise<TrashPage> =>
  json(trash.$get({ param: { server }, query: { page } }, abortedBy(signal)))

/** One page of the trash; refetched while items are being moved. */
export const trashQuery = (server: string, page: number) =>
  queryOptions({
    queryKey: ['trash', server, page],
    queryFn: ({ signal }) => trashPage(server, page, signal),
    refetchInterval: ({ state }) => (state.data?.data.some(({ ready }) => !ready) ? pollIntervalMs : false),
  })

/** Moves entries of one folder to the trash. */
export async function moveToTrash(server: string, root: string, names: readonly string[]): Promise<void> {
  for (let start = 0; start < names.length; start += maxNamesPerRequest) {
    const files = names.slice(start, start + maxNamesPerRequest)
    // oxlint-disable-next-line no-await-in-loop -- the panel accepts one at a time
    await trash.$post({ param: { server }, json: { root, files } })
  }
}

/** Restores an item to where it was. Refused with 409 when its name is taken. */
export const restoreFromTrash = (server: string, item: string) =>
  done(trash[':item'].restore.$post({ param: { server, item } }))

/** Deletes an item permanently. */
export const purgeFromTrash = (server: string, item: string) =>
  done(trash[':item'].$delete({ param: { server, item } }))

/**
 * Restores the newest item of each path, and returns the paths of which the trash has none any more. All are looked
 * up before the first is restored, since that shifts the pages.
 */
export async function restorePaths(server: string, paths: readonly string[]): Promise<string[]> {
  const missing = new Set(paths)
  const items: TrashItem[] = []
  for (let page = 1, last = 1; page <= last && missing.size > 0; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- the next page is read only when it is needed
    const { data, meta } = await trashPage(server, page)
    items.push(...data.filter(({ path }) => missing.delete(path)))
    last = meta.last_page
  }
  for (const { id } of items) {
    // oxlint-disable-next-line no-await-in-loop -- each is a call to the node
    await restoreFromTrash(server, id)
  }
  return [...missing]
}
