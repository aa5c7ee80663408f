import { createFileRoute } from '@tanstack/react-router'
import { useTranslation } from '../../../../app/use-translation.ts'
import { ActivityFeed } from '../../../../activity/activity-feed.tsx'
import { eventTexts } from '../../../../activity/event-text.tsx'
import { readActivitySearch } from '../../../../api/activity.ts'
import { usePageTitle } from '../../../../app/page-title.ts'
import { loadTexts } from '../../../../app/texts.ts'
import { PageHeader } from '../../../../components/card.tsx'
import { useServer } from '../../../../server/server-context.tsx'

export const Route = createFileRoute('/_app/server/$server/activity')({
  validateSearch: readActivitySearch,
  loader: () => loadTexts('feed', ...eventTexts),
  component: ServerActivity,
})

function ServerActivity() {
  const { t } = useTranslation('feed')
  const { id, server } = useServer()
  const navigate = Route.useNavigate()
  usePageTitle(t('title'), server.name)
  return (
    <>
      <PageHeader title={t('title')} />
      <ActivityFeed
        feed={{ server: id }}
        search={Route.useSearch()}
        onSearchChange={(search) => void navigate({ search, resetScroll: false })}
        fileName={`activity-${id}`}
      />
    </>
  )
}
