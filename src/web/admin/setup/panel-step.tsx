import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { site } from '../../app/site.ts'
import { Banner } from '../../components/badge.tsx'
import { Field } from '../../components/field.tsx'
import { Loaded } from '../../components/states.tsx'
import { listZones, localZone } from '../../server/schedules/zones.ts'
import { FormSection, SelectInput, TextInput, wide } from '../form/fields.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import type { Item, Setup } from '../resources.ts'
import { languages } from '../users/user-form.tsx'
import { StepFooter, useLoadPage } from './step-parts.tsx'
import { pathAfter, saveStep } from './steps.ts'

type Identity = { name: string | null; timezone: string | null; language: string }
type Settings = { panel: Identity }

/** What the panel is called, where it is, and the language and time zone that it takes where none is named. */
export function PanelStep({ setup }: { setup: Setup }) {
  const settings = useQuery(adminQuery<Item<Settings>>('/settings'))
  return (
    <>
      <Loaded query={settings}>
        {({ attributes: { panel } }) => <IdentityForm setup={setup} panel={panel} />}
      </Loaded>
      <StepFooter setup={setup} step="panel" />
    </>
  )
}

function IdentityForm({ setup, panel }: { setup: Setup; panel: Identity }) {
  const { t } = useTranslation('admin')
  const loadPage = useLoadPage()
  const isNew = setup.steps.some(({ id, state }) => id === 'panel' && state === 'open')
  const timezone = panel.timezone ?? localZone
  return (
    <ResourceForm
      initial={{
        'panel.name': panel.name ?? site.name,
        'panel.timezone': timezone,
        // What is new speaks the language of who sets it up.
        'panel.language': isNew ? site.locale : panel.language,
      }}
      save={async (values) => {
        await adminSend('PATCH', '/settings', {
          panel: {
            name: values['panel.name'] || null,
            timezone: values['panel.timezone'],
            language: values['panel.language'],
          },
        })
        await saveStep('panel', 'done')
      }}
      submit={t('setup.save')}
      // The name stands in the page as it was loaded.
      onSaved={() => loadPage(`/admin/${pathAfter(setup, 'panel')}`)}
    >
      <FormSection title={t('setup.identity')}>
        <TextInput name="panel.name" label={t('field.name')} isRequired />
        <SelectInput
          name="panel.language"
          label={t('strings:word.language')}
          hint={t('setup.language_text')}
          choices={languages.filter(([code]) => code !== 'auto')}
        />
        <SelectInput
          name="panel.timezone"
          label={t('setup.timezone')}
          hint={t('setup.timezone_text')}
          choices={listZones(timezone).map((zone) => [zone, zone])}
        />
        <Address url={setup.url} />
      </FormSection>
    </ResourceForm>
  )
}

/** The address of the panel, which its environment says, and whether it is the one at which it was opened. */
function Address({ url }: { url: string }) {
  const { t } = useTranslation('admin')
  return (
    <>
      <Field label={t('strings:word.address')} hint={t('setup.address_text')}>
        {({ id }) => (
          <output id={id} className="flex min-h-9 items-center font-mono text-sm wrap-anywhere">
            {url}
          </output>
        )}
      </Field>
      {url !== location.origin && (
        <div className={wide}>
          <Banner tone="warn" title={t('setup.other_address', { address: location.origin })}>
            {t('setup.other_address_text')}
          </Banner>
        </div>
      )}
    </>
  )
}
