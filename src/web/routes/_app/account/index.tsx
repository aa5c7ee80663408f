import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { useTranslation } from '../../../app/use-translation.ts'
import { accountQuery } from '../../../api/account.ts'
import { AvatarCard } from '../../../account/avatar-card.tsx'
import { EmailForm } from '../../../account/email-form.tsx'
import { PasswordForm } from '../../../account/password-form.tsx'
import { Preferences } from '../../../account/preferences.tsx'
import { usePageTitle } from '../../../app/page-title.ts'
import { loadTexts } from '../../../app/texts.ts'
import { PageHeader } from '../../../components/card.tsx'
import { Loaded } from '../../../components/states.tsx'
import { MailChoicesCard } from '../../../notifications/mail-choices-card.tsx'

export const Route = createFileRoute('/_app/account/')({
  // The fields for a new password use the texts of the guest pages.
  loader: () => loadTexts('account', 'auth', 'notifications'),
  component: Profile,
})

function Profile() {
  const { t } = useTranslation('account')
  const account = useQuery(accountQuery)
  usePageTitle(t('profile.title'))
  return (
    <>
      <PageHeader title={t('profile.title')} />
      <Loaded query={account}>
        {(data) => (
          <div className="grid items-start gap-4 xl:grid-cols-2">
            <div className="flex min-w-0 flex-col gap-4">
              <AvatarCard account={data} />
              <Preferences account={data} />
            </div>
            <div className="flex min-w-0 flex-col gap-4">
              <EmailForm current={data.email} />
              <PasswordForm username={data.username} />
            </div>
            <div className="min-w-0 xl:col-span-2">
              <MailChoicesCard />
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}
