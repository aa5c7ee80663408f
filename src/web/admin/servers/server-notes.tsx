import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { Loaded } from '../../components/states.tsx'
import { currentOf } from '../form/current-version.ts'
import { FormSection, LongTextInput, wide } from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { Item, Server, ServerNotes as Notes } from '../resources.ts'

const valuesOf = ({ notes }: Notes): FormValues => ({ notes })

/** What administrators note about a server; its users do not see it. */
export function ServerNotes({ server }: { server: Server }) {
  const { t } = useTranslation('admin')
  const path = `/servers/${server.id}/notes`
  const query = useQuery(adminQuery<Item<Notes>>(path))
  return (
    <Loaded query={query}>
      {(notes) => (
        <ResourceForm
          initial={valuesOf(notes.attributes)}
          fetchCurrent={currentOf(path, valuesOf)}
          subject={{ type: 'server', id: server.id }}
          isReadOnly={!can('servers', 'write')}
          save={(values) => adminSend('PUT', path, values)}
        >
          <FormSection title={t('servers.part_notes')} text={t('servers.notes_text')}>
            <LongTextInput name="notes" label={t('servers.part_notes')} rows={12} className={wide} />
          </FormSection>
        </ResourceForm>
      )}
    </Loaded>
  )
}
