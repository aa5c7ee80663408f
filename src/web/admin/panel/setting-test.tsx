import { useMutation } from '@tanstack/react-query'
import { FlaskConical } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { Badge, Banner } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { asRequestError } from '../../api/error.ts'
import type { Item, SettingTest as Report } from '../resources.ts'

/** The groups of settings whose service can be tested. */
const tests: Partial<Record<string, Report['test']>> = { mail: 'mail', backups: 'bucket', sign_in: 'oidc' }

/** Tests the service that a group of settings is about, and says step by step what was found. */
export function SettingTest({ group }: { group: string }) {
  const { t } = useTranslation('admin')
  const test = tests[group]
  const testing = useMutation({
    mutationFn: () => adminSend<Item<Report>>('POST', `/settings/test/${test}`),
  })
  if (!test) return null
  return (
    <Card
      title={t(`settings.test_${test}`)}
      text={t(`settings.test_${test}_text`)}
      className="mt-4"
      actions={
        <Button icon={FlaskConical} busy={testing.isPending} onClick={() => testing.mutate()}>
          {t(`settings.test_${test}`)}
        </Button>
      }
    >
      <div aria-live="polite">{testing.data && <Outcome report={testing.data.attributes} />}</div>
      {testing.error && (
        <Banner tone="bad" title={t('settings.test_failed')}>
          {asRequestError(testing.error)?.message || t('strings:failure.other')}
        </Banner>
      )}
    </Card>
  )
}

function Outcome({ report: { is_successful: isSuccessful, steps } }: { report: Report }) {
  const { t } = useTranslation('admin')
  return (
    <>
      <p className={isSuccessful ? 'font-medium text-good' : 'font-medium text-bad'}>
        {t(isSuccessful ? 'settings.test_passed' : 'settings.test_failed')}
      </p>
      <ul className="mt-2 divide-y divide-line text-sm">
        {steps.map(({ name, state, detail, code, values }) => (
          <li key={name} className="flex items-start gap-3 py-2.5">
            <Badge tone={state === 'ok' ? 'good' : 'bad'}>{t(`nodes.check_${state}`)}</Badge>
            <div className="min-w-0">
              <p className="font-medium">{t(`settings.step_${name}`, { defaultValue: name })}</p>
              <p className="text-muted wrap-anywhere">
                {code === null ? detail : t(`settings.found.${code}`, values)}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </>
  )
}
