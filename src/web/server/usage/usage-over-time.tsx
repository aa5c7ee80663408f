import { useQuery } from '@tanstack/react-query'
import { ChartLine } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { usageQuery } from '../../api/usage.ts'
import { useStoredChoice } from '../../app/use-stored-choice.ts'
import { Button } from '../../components/button.tsx'
import { PageHeader } from '../../components/card.tsx'
import { EmptyState, Loaded, Skeleton } from '../../components/states.tsx'
import { useServer } from '../server-context.tsx'
import { type PeriodName, periodNames, shownPeriods } from './periods.ts'
import { ProcessChanges } from './process-changes.tsx'

const StoredCharts = lazy(() => import('./stored-charts.tsx'))
const placeholder = <Skeleton className="h-56" />

/** What a server used over a period that stays chosen, and what happened to its process. */
export function UsageOverTime() {
  const { t } = useTranslation('usage')
  const { id } = useServer()
  const [period, setPeriod] = useStoredChoice('roost.usage_period', periodNames)
  const query = useQuery(usageQuery(id, period))
  return (
    <div>
      <PageHeader title={t('title')} actions={<PeriodChoice period={period} onChoose={setPeriod} />} />
      <Loaded query={query} skeleton={placeholder}>
        {(usage) =>
          usage.points.length === 0 ? (
            <EmptyState icon={ChartLine} title={t('empty')} text={t('empty_text')} />
          ) : (
            <div aria-busy={query.isPlaceholderData}>
              <Suspense fallback={placeholder}>
                <StoredCharts key={usage.period} usage={usage} fetchedAt={query.dataUpdatedAt / 1000}>
                  <ProcessChanges changes={usage.changes} />
                </StoredCharts>
              </Suspense>
            </div>
          )
        }
      </Loaded>
    </div>
  )
}

function PeriodChoice({ period, onChoose }: { period: PeriodName; onChoose: (period: PeriodName) => void }) {
  const { t } = useTranslation('usage')
  return (
    <div role="group" aria-label={t('period')} className="flex flex-wrap gap-1">
      {shownPeriods.map((name) => (
        <Button
          key={name}
          aria-pressed={name === period}
          variant={name === period ? 'plain' : 'quiet'}
          onClick={() => onChoose(name)}
        >
          {t(`period_${name}`)}
        </Button>
      ))}
    </div>
  )
}
