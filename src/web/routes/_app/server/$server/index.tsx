import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { loadTexts } from '../../../../app/texts.ts'
import { usePageTitle } from '../../../../app/page-title.ts'
import { ConsolePanel } from '../../../../server/console/console-panel.tsx'
import { EulaDialog } from '../../../../server/console/eula-dialog.tsx'
import { StatTiles } from '../../../../server/console/stat-tiles.tsx'
import { useServer } from '../../../../server/server-context.tsx'

const UsageCharts = lazy(() => import('../../../../server/console/usage-charts.tsx'))

export const Route = createFileRoute('/_app/server/$server/')({
  loader: () => loadTexts('console'),
  component: ConsolePage,
})

function ConsolePage() {
  const { t } = useTranslation('console')
  const { server } = useServer()
  usePageTitle(t('title'), server.name)
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <h1 className="sr-only">{t('title')}</h1>
      <ConsolePanel />
      <div className="md:order-first">
        <StatTiles />
      </div>
      <Suspense fallback={<div className="h-64" />}>
        <UsageCharts />
      </Suspense>
      <EulaDialog />
    </div>
  )
}
