import { useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { Card } from '../../components/card.tsx'
import { Loaded } from '../../components/states.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, linkStyle, useAdminNavigate } from '../admin-link.tsx'
import { AdminPage } from '../admin-page.tsx'
import { currentOf } from '../form/current-version.ts'
import { ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { PageParams } from '../pages.ts'
import type { Announcement, Item } from '../resources.ts'
import { announcementBody, AnnouncementFields, announcementValues } from './announcement-fields.tsx'
import { AnnouncementState } from './announcement-state.tsx'

/** One announcement: its form with what users see. */
export function AnnouncementPage({ params: { id = '' } }: { params: PageParams }) {
  const { t } = useTranslation('admin')
  const path = `/announcements/${id}`
  const query = useQuery({
    ...adminQuery<Item<Announcement>>(path, { include: 'author,locations,nodes' }),
    select: ({ attributes }) => attributes,
  })
  const isWriter = can('announcements', 'write')
  return (
    <AdminPage
      title={query.data?.title ?? `#${id}`}
      text={query.data && <Summary announcement={query.data} />}
      crumbs={[{ to: 'announcements', text: t('nav.announcements') }]}
      actions={query.data && isWriter && <DeleteAnnouncement announcement={query.data} />}
    >
      <Loaded query={query}>
        {(announcement) => (
          <Card className="max-w-3xl">
            <ResourceForm
              initial={announcementValues(announcement)}
              fetchCurrent={currentOf(path, announcementValues, { include: 'locations,nodes' })}
              subject={{ type: 'announcement', id: announcement.id }}
              save={(values, version) =>
                adminSend('PATCH', path, announcementBody(values, announcement), version)
              }
              isReadOnly={!isWriter}
            >
              <AnnouncementFields />
            </ResourceForm>
          </Card>
        )}
      </Loaded>
    </AdminPage>
  )
}

function Summary({ announcement }: { announcement: Announcement }) {
  const { t } = useTranslation('admin')
  const author = announcement.relationships?.author?.attributes
  return (
    <span className="flex flex-wrap items-center gap-2">
      <AnnouncementState announcement={announcement} />
      {author && (
        <span>
          {t('announcements.author')}{' '}
          <AdminLink to={`users/${author.id}`} className={linkStyle}>
            {author.username}
          </AdminLink>
        </span>
      )}
    </span>
  )
}

function DeleteAnnouncement({ announcement: { id, title } }: { announcement: Announcement }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  return (
    <AdminAction
      icon={Trash2}
      variant="danger"
      label={t('announcements.delete')}
      run={() => adminSend('DELETE', `/announcements/${id}`)}
      done={t('announcements.deleted')}
      onDone={() => navigate('announcements')}
      confirm={{ title: t('confirm.delete', { name: title }), text: t('announcements.delete_text') }}
    />
  )
}
