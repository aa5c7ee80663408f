import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { announcementsQuery } from '../api/announcements.ts'
import { site } from '../app/site.ts'

const loadList = async () => (await import('./announcement-list.tsx')).AnnouncementList
/** Waits for its code where the page did not come with announcements. */
const LazyList = lazy(async () => ({ default: await loadList() }))
let LoadedList: Awaited<ReturnType<typeof loadList>> | null = null

/** Loads the code of the list before the page is shown, so that nothing moves; most panels have no announcement. */
export async function preloadAnnouncements(): Promise<void> {
  if (site.announcements.length > 0) LoadedList = await loadList().catch(() => null)
}

/** Shows the announcements for the user; on the pages of a server those for everyone and for its node. */
export function Announcements({ node }: { node?: string }) {
  const { data } = useQuery(announcementsQuery)
  if (data.length === 0) return null
  const List = LoadedList ?? LazyList
  return (
    <Suspense>
      <List announcements={data} node={node} />
    </Suspense>
  )
}
