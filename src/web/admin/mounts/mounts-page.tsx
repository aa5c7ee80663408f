import { FolderSymlink, Plus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { Button } from '../../components/button.tsx'
import { useAdminNavigate } from '../admin-link.tsx'
import { FormDialog } from '../form/form-dialog.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { Item, Mount } from '../resources.ts'
import { MountFields, MountPaths, mountBody, mountValues } from './mount-fields.tsx'

/** The folders of nodes that servers can have in their containers. */
export function MountsPage() {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  const [isCreating, setCreating] = useState(false)
  return (
    <>
      <AdminList<Mount>
        title={t('nav.mounts')}
        text={t('mounts.text')}
        icon={FolderSymlink}
        path="/mounts"
        query={{ sort: 'name' }}
        searchBy="filter[name]"
        searchLabel={t('field.name')}
        keyOf={({ id }) => id}
        linkTo={({ id }) => `mounts/${id}`}
        empty={t('mounts.empty')}
        actions={
          can('mounts', 'write') && (
            <Button variant="primary" icon={Plus} onClick={() => setCreating(true)}>
              {t('mounts.create')}
            </Button>
          )
        }
        columns={[
          { name: 'name', label: t('field.name'), sort: 'name', cell: ({ name }) => name },
          { name: 'paths', label: t('mounts.paths'), cell: (mount) => <MountPaths mount={mount} /> },
          {
            name: 'description',
            label: t('field.description'),
            cell: ({ description }) => description || '–',
          },
        ]}
      />
      {isCreating && (
        <FormDialog title={t('mounts.create')} onClose={() => setCreating(false)}>
          <ResourceForm
            initial={mountValues(null)}
            save={(values) => adminSend<Item<Mount>>('POST', '/mounts', mountBody(values))}
            onSaved={({ attributes }) => navigate(`mounts/${attributes.id}`)}
          >
            <MountFields />
          </ResourceForm>
        </FormDialog>
      )}
    </>
  )
}
