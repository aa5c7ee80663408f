import { createFileRoute } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { loadTexts } from '../../../../app/texts.ts'
import { usePageTitle } from '../../../../app/page-title.ts'
import { ConsolePanel } from '../../../../server/console/console-panel.tsx'
import { ConsoleUsage } from '../../../../server/console/console-usage.tsx'
import { useServer } from '../../../../server/server-context.tsx'

export const Route = createFileRoute('/_app/server/$server/')({
  loader: () => loadTexts('console'),
  component: ConsolePage,
})

function ConsolePage() {
  const { t } = useTranslation('console')
  const { server } = useServer()
  usePageTitle(t('title'), server.name)
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-3 xl:flex-row xl:gap-4">
      <h1 className="sr-only">{t('title')}</h1>
      <ConsolePanel />
      <ConsoleUsage />
    </div>
  )
}
