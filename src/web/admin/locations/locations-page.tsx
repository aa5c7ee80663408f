import { MapPin, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { formatNumber } from '../../app/formats.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { currentOf } from '../form/current-version.ts'
import { FormDialog } from '../form/form-dialog.tsx'
import { TextInput } from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { Location } from '../resources.ts'

/** The locations of nodes; they are created and changed in a dialog. */
export function LocationsPage() {
  const { t } = useTranslation('admin')
  const [edited, setEdited] = useState<Location | 'new' | null>(null)
  const isWriter = can('locations', 'write')
  return (
    <>
      <AdminList<Location>
        title={t('nav.locations')}
        icon={MapPin}
        path="/locations"
        query={{ include: 'nodes' }}
        searchBy="filter[short]"
        searchLabel={t('locations.search')}
        keyOf={({ id }) => id}
        empty={t('locations.empty')}
        actions={
          isWriter && (
            <Button variant="primary" icon={Plus} onClick={() => setEdited('new')}>
              {t('locations.create')}
            </Button>
          )
        }
        columns={[
          { name: 'short', label: t('field.short'), cell: ({ short }) => short },
          { name: 'long', label: t('field.description'), cell: ({ long }) => long ?? '–' },
          { name: 'region', label: t('field.region'), cell: ({ region }) => region ?? '–' },
          {
            name: 'nodes',
            label: t('nav.nodes'),
            isNumber: true,
            cell: ({ id, relationships }) => (
              <AdminLink to="nodes" search={{ location_id: id }} className={linkStyle}>
                {formatNumber(relationships?.nodes?.data?.length ?? 0)}
              </AdminLink>
            ),
          },
        ]}
        {...(isWriter
          ? {
              rowActions: (location: Location) => (
                <Actions location={location} onEdit={() => setEdited(location)} />
              ),
            }
          : {})}
      />
      {edited && (
        <LocationDialog location={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
    </>
  )
}

function Actions({ location, onEdit }: { location: Location; onEdit: () => void }) {
  const { t } = useTranslation('admin')
  return (
    <span className="flex">
      <IconButton icon={Pencil} label={t('list.edit', { name: location.short })} onClick={onEdit} />
      <AdminAction
        icon={Trash2}
        isCompact
        label={t('list.delete', { name: location.short })}
        run={() => adminSend('DELETE', `/locations/${location.id}`)}
        confirm={{ title: t('confirm.delete', { name: location.short }), text: t('locations.delete_text') }}
      />
    </span>
  )
}

const valuesOf = (location: Location | null): FormValues => ({
  short: location?.short ?? '',
  long: location?.long ?? '',
  region: location?.region ?? '',
})

function LocationDialog({ location, onClose }: { location: Location | null; onClose: () => void }) {
  const { t } = useTranslation('admin')
  const path = location ? `/locations/${location.id}` : '/locations'
  return (
    <FormDialog
      title={location ? t('list.edit', { name: location.short }) : t('locations.create')}
      onClose={onClose}
    >
      <ResourceForm
        initial={valuesOf(location)}
        fetchCurrent={location ? currentOf(path, valuesOf) : undefined}
        subject={location ? { type: 'location', id: location.id } : undefined}
        save={({ short, long, region }, version) =>
          adminSend(
            location ? 'PATCH' : 'POST',
            path,
            { short, long: long || null, region: region || null },
            version,
          )
        }
        onSaved={onClose}
      >
        <TextInput name="short" isRequired />
        <TextInput name="long" label={t('field.description')} />
        <TextInput name="region" />
      </ResourceForm>
    </FormDialog>
  )
}
