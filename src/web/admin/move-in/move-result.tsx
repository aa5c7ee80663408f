import { PackageOpen } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { formatNumber } from '../../app/formats.ts'
import { Banner } from '../../components/badge.tsx'
import { Card } from '../../components/card.tsx'
import { AdminAction } from '../admin-action.tsx'
import type { MoveIn } from '../resources.ts'
import { MoveReport } from './move-report.tsx'

/** What moved, whether it equals the old rows, and what is to do next. */
export function MoveResult({ move }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  const { differences, fault, report } = move
  const isEqual = differences?.length === 0
  return (
    <>
      <Banner
        tone={isEqual ? 'good' : 'warn'}
        title={t('ended.done')}
        actions={
          <AdminAction
            icon={PackageOpen}
            label={t('ended.again')}
            run={() => adminSend('DELETE', '/move-in')}
          />
        }
      >
        <p>
          {differences === null
            ? t('ended.uncompared')
            : isEqual
              ? t('ended.equal')
              : t('ended.differ', { number: formatNumber(differences.length) })}
        </p>
        {fault && <p lang="en">{fault.error}</p>}
        <p>{t('ended.next')}</p>
      </Banner>
      {differences && differences.length > 0 && (
        <Card title={t('ended.differ', { number: formatNumber(differences.length) })}>
          <ul className="flex max-h-80 flex-col gap-1 overflow-y-auto text-sm wrap-anywhere">
            {differences.map(({ table, id, columns }) => (
              <li key={`${table} ${id}`}>
                <code className="text-xs">
                  {table} {id}
                </code>{' '}
                {columns.join(', ')}
              </li>
            ))}
          </ul>
        </Card>
      )}
      {report && <MoveReport report={report} />}
    </>
  )
}
