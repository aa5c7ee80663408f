import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { Banner } from '../../components/badge.tsx'
import { Loaded } from '../../components/states.tsx'
import { FormSection, TextInput } from '../form/fields.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import { SettingTest } from '../panel/setting-test.tsx'
import type { Item, Setup } from '../resources.ts'
import { StepFooter } from './step-parts.tsx'
import { saveStep } from './steps.ts'

type Settings = { mail: { from_name: string | null; from_address: string | null } }

/** Who the mails of the panel come from, and whether they are sent. */
export function MailStep({ setup }: { setup: Setup }) {
  const { t } = useTranslation('admin')
  const settings = useQuery(adminQuery<Item<Settings>>('/settings'))
  return (
    <>
      {!setup.sends_mail && (
        <div className="mb-4">
          <Banner tone="warn" title={t('setup.no_mail')}>
            {t('setup.no_mail_text')}
          </Banner>
        </div>
      )}
      <Loaded query={settings}>{({ attributes: { mail } }) => <Sender mail={mail} />}</Loaded>
      <SettingTest group="mail" />
      <StepFooter setup={setup} step="mail" />
    </>
  )
}

function Sender({ mail }: { mail: Settings['mail'] }) {
  const { t } = useTranslation('admin')
  return (
    <ResourceForm
      initial={{ 'mail.from_name': mail.from_name ?? '', 'mail.from_address': mail.from_address ?? '' }}
      save={async (values) => {
        await adminSend('PATCH', '/settings', {
          mail: {
            from_name: values['mail.from_name'] || null,
            from_address: values['mail.from_address'] || null,
          },
        })
        await saveStep('mail', 'done')
      }}
    >
      <FormSection title={t('setup.sender')}>
        <TextInput name="mail.from_name" label={t('setup.sender_name')} />
        <TextInput name="mail.from_address" label={t('setup.sender_address')} type="email" />
      </FormSection>
    </ResourceForm>
  )
}
