import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { announcementsQuery } from '../api/announcements.ts'
import { site } from '../app/site.ts'

const loadList = () => import('./announcement-list.tsx')
const AnnouncementList = lazy(async () => ({ default: (await loadList()).AnnouncementList }))

/** Loads the code of the list before the page is shown, so that nothing moves; most panels have no announcement. */
export async function preloadAnnouncements(): Promise<void> {
  if (site.announcements.length > 0) await loadList().catch(() => undefined)
}

/** Shows the announcements for the user; on the pages of a server those for everyone and for its node. */
export function Announcements({ node }: { node?: string }) {
  const { data } = useQuery(announcementsQuery)
  if (data.length === 0) return null
  return (
    <Suspense>
      <AnnouncementList announcements={data} node={node} />
    </Suspense>
  )
}
