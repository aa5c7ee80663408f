import { useMutation, useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { type Announcement, announcementsQuery, dismissAnnouncement } from '../api/announcements.ts'
import { asRequestError } from '../api/error.ts'
import { Button, IconButton } from '../components/button.tsx'
import { toastError } from '../components/toast.tsx'
import { AnnouncementCard } from './announcement-card.tsx'

/** More of them would hide the page. */
const shownAtOnce = 3

/** Whether it is still on, and about this page: the home page, which names no node, has all of them. */
const isShown = ({ ends_at: end, nodes }: Announcement, node: string | undefined) =>
  (end === null || Date.parse(end) > Date.now()) &&
  (node === undefined || nodes === null || nodes.includes(node))

/** The announcements of a page; each can be dismissed for good. */
export function AnnouncementList({
  announcements,
  node,
}: {
  announcements: readonly Announcement[]
  node: string | undefined
}) {
  const { t } = useTranslation()
  const [showsAll, setShowsAll] = useState(false)
  const all = announcements.filter((announcement) => isShown(announcement, node))
  if (all.length === 0) return null
  const shown = showsAll ? all : all.slice(0, shownAtOnce)
  return (
    <section aria-label={t('announcements.label')} className="flex flex-col gap-2">
      <ul className="flex flex-col gap-2">
        {shown.map((announcement) => (
          <li key={announcement.id}>
            <AnnouncementCard
              {...announcement}
              note={
                node === undefined &&
                announcement.nodes &&
                t('announcements.nodes', { nodes: announcement.nodes.join(', ') })
              }
              action={<Dismiss announcement={announcement} />}
            />
          </li>
        ))}
      </ul>
      {shown.length < all.length && (
        <Button variant="quiet" className="self-start" onClick={() => setShowsAll(true)}>
          {t('announcements.all', { total: all.length })}
        </Button>
      )}
    </section>
  )
}

function Dismiss({ announcement: { id, title } }: { announcement: Announcement }) {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const { queryKey } = announcementsQuery
  const dismissal = useMutation({
    mutationFn: () => dismissAnnouncement(id),
    onSettled: async (_, error) => {
      // It is gone already where it has ended or another page has dismissed it.
      if (error && asRequestError(error)?.status !== 404) toastError(error, t('failure.other'))
      else {
        await queries.cancelQueries({ queryKey })
        queries.setQueryData(queryKey, (all) => all?.filter((other) => other.id !== id))
        document.getElementById('content')?.focus()
      }
    },
  })
  return (
    <IconButton
      icon={X}
      label={t('announcements.dismiss', { title })}
      busy={dismissal.isPending}
      onClick={() => dismissal.mutate()}
    />
  )
}
