import { createFileRoute } from '@tanstack/react-router'
import { usePageTitle } from '../../../../app/page-title.ts'
import { loadTexts } from '../../../../app/texts.ts'
import { useServer } from '../../../../server/server-context.tsx'
import { UsageOverTime } from '../../../../server/usage/usage-over-time.tsx'
import { useTranslation } from '../../../../app/use-translation.ts'

export const Route = createFileRoute('/_app/server/$server/usage')({
  loader: () => loadTexts('usage'),
  component: ServerUsage,
})

function ServerUsage() {
  const { t } = useTranslation('usage')
  const { server } = useServer()
  usePageTitle(t('title'), server.name)
  return <UsageOverTime />
}
