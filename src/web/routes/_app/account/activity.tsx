import { createFileRoute } from '@tanstack/react-router'
import { useTranslation } from '../../../app/use-translation.ts'
import { ActivityFeed } from '../../../activity/activity-feed.tsx'
import { eventTexts } from '../../../activity/event-text.tsx'
import { readActivitySearch } from '../../../api/activity.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { loadTexts } from '../../../app/texts.ts'
import { PageHeader } from '../../../components/card.tsx'

export const Route = createFileRoute('/_app/account/activity')({
  validateSearch: readActivitySearch,
  loader: () => loadTexts('account', 'feed', ...eventTexts),
  component: AccountActivity,
})

function AccountActivity() {
  const { t } = useTranslation('account')
  const navigate = Route.useNavigate()
  usePageTitle(t('activity.title'))
  return (
    <>
      <PageHeader title={t('activity.title')} />
      <ActivityFeed
        feed="account"
        search={Route.useSearch()}
        onSearchChange={(search) => void navigate({ search, resetScroll: false })}
        fileName="account-activity"
      />
    </>
  )
}
