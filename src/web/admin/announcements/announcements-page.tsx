import { Megaphone, Plus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { Button } from '../../components/button.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useAdminNavigate } from '../admin-link.tsx'
import { FormDialog } from '../form/form-dialog.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { Announcement, Item } from '../resources.ts'
import {
  announcementBody,
  AnnouncementFields,
  announcementLevels,
  announcementValues,
} from './announcement-fields.tsx'
import { AnnouncementAudience, AnnouncementState, announcementStates } from './announcement-state.tsx'

/** The messages that users see in the panel. */
export function AnnouncementsPage() {
  const { t } = useTranslation('admin')
  const [isCreating, setCreating] = useState(false)
  return (
    <>
      <AdminList<Announcement>
        title={t('nav.announcements')}
        text={t('announcements.text')}
        icon={Megaphone}
        path="/announcements"
        query={{ sort: '-starts_at', include: 'locations,nodes' }}
        searchBy="filter[title]"
        searchLabel={t('field.title')}
        filters={[
          {
            name: 'state',
            label: t('strings:word.status'),
            choices: announcementStates.map((state) => [state, t(`announcements.${state}`)]),
          },
          {
            name: 'level',
            label: t('announcements.level'),
            choices: announcementLevels.map((level) => [level, t(`announcements.level_${level}`)]),
          },
        ]}
        keyOf={({ id }) => id}
        linkTo={({ id }) => `announcements/${id}`}
        empty={t('announcements.empty')}
        actions={
          can('announcements', 'write') && (
            <Button variant="primary" icon={Plus} onClick={() => setCreating(true)}>
              {t('announcements.create')}
            </Button>
          )
        }
        columns={[
          { name: 'title', label: t('field.title'), sort: 'title', cell: ({ title }) => title },
          {
            name: 'state',
            label: t('strings:word.status'),
            cell: (announcement) => <AnnouncementState announcement={announcement} />,
          },
          {
            name: 'level',
            label: t('announcements.level'),
            cell: ({ level }) => t(`announcements.level_${level}`),
          },
          {
            name: 'audience',
            label: t('announcements.audience'),
            cell: (announcement) => <AnnouncementAudience announcement={announcement} />,
          },
          {
            name: 'starts',
            label: t('announcements.starts'),
            sort: 'starts_at',
            cell: ({ starts_at: at }) => <RelativeTime at={at} />,
          },
          {
            name: 'ends',
            label: t('announcements.ends'),
            sort: 'ends_at',
            cell: ({ ends_at: at }) => (at ? <RelativeTime at={at} /> : t('strings:word.never')),
          },
        ]}
      />
      {isCreating && <NewAnnouncement onClose={() => setCreating(false)} />}
    </>
  )
}

function NewAnnouncement({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  return (
    <FormDialog title={t('announcements.create')} onClose={onClose}>
      <ResourceForm
        initial={announcementValues(null)}
        submit={t('announcements.create')}
        save={(values) =>
          adminSend<Item<Announcement>>('POST', '/announcements', announcementBody(values, null))
        }
        onSaved={({ attributes }) => navigate(`announcements/${attributes.id}`)}
      >
        <AnnouncementFields />
      </ResourceForm>
    </FormDialog>
  )
}
