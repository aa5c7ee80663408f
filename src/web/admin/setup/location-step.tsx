import { useQuery } from '@tanstack/react-query'
import { MapPin } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { RowList } from '../../components/card.tsx'
import { Loaded } from '../../components/states.tsx'
import { useAdminNavigate } from '../admin-link.tsx'
import { FormSection, TextInput } from '../form/fields.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import type { Location, PageOf, Setup } from '../resources.ts'
import { StepFooter } from './step-parts.tsx'
import { pathAfter } from './steps.ts'

/** Where the machines stand. */
export function LocationStep({ setup }: { setup: Setup }) {
  const { t } = useTranslation('admin')
  const query = useQuery({
    ...adminQuery<PageOf<Location>>('/locations', { per_page: 10 }),
    select: rowsOf,
  })
  return (
    <>
      <Loaded query={query}>
        {(locations) =>
          locations.length === 0 ? (
            <NewLocation setup={setup} />
          ) : (
            <RowList label={t('nav.locations')}>
              {locations.map(({ id, short, long }) => (
                <li key={id} className="flex items-center gap-3 px-4 py-3 text-sm">
                  <MapPin aria-hidden className="size-5 shrink-0 text-muted" />
                  <span className="min-w-0">
                    <span className="font-medium wrap-anywhere">{short}</span>
                    {long && <span className="block text-muted wrap-anywhere">{long}</span>}
                  </span>
                </li>
              ))}
            </RowList>
          )
        }
      </Loaded>
      <StepFooter setup={setup} step="location" />
    </>
  )
}

function NewLocation({ setup }: { setup: Setup }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  return (
    <ResourceForm
      initial={{ short: '', long: '' }}
      save={({ short, long }) => adminSend('POST', '/locations', { short, long: long || null })}
      submit={t('setup.save')}
      saved={t('setup.location_created')}
      onSaved={() => navigate(pathAfter(setup, 'location'))}
    >
      <FormSection title={t('word.location')}>
        <TextInput name="short" isRequired placeholder="fra" />
        <TextInput name="long" label={t('field.description')} placeholder="Frankfurt" />
      </FormSection>
    </ResourceForm>
  )
}
