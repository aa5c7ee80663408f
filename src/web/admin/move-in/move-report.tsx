import { useTranslation } from '../../app/use-translation.ts'
import { formatNumber } from '../../app/formats.ts'
import { Badge, Banner } from '../../components/badge.tsx'
import { Card } from '../../components/card.tsx'
import type { MoveIn } from '../resources.ts'

type Report = NonNullable<MoveIn['report']>
type Finding = Report['findings'][number]

const order = ['refused', 'left out', 'changed'] as const
const tones = { refused: 'bad', 'left out': 'warn', changed: 'info' } as const
const names = { refused: 'refused', 'left out': 'left', changed: 'changed' } as const

/** What can move, or moved, by table; and what changes, stays behind or forbids the move, with reasons and ids. */
export function MoveReport({ report }: { report: Report }) {
  const { t } = useTranslation('moving')
  const findings = report.findings.toSorted((a, b) => order.indexOf(a.what) - order.indexOf(b.what))
  const isCheck = report.tables.every(({ written }) => written === null)
  return (
    <Card title={t('report.title')} text={<span lang="en">{report.version}</span>}>
      <div className="flex flex-col gap-5">
        {findings.length > 0 && <Findings findings={findings} />}
        <Remarks report={report} />
        <Tables report={report} isCheck={isCheck} />
      </div>
    </Card>
  )
}

/** How many reasons stand in the verdict; the report has all. */
const maxReasons = 5

/** Whether a check found what forbids the move, and the first reasons. */
export function CheckVerdict({ report: { findings } }: { report: Report }) {
  const { t } = useTranslation('moving')
  const refused = findings.filter(({ what }) => what === 'refused')
  if (refused.length === 0) return <Banner tone="good" title={t('report.ready')} />
  return (
    <Banner tone="bad" title={t('report.refused_reasons', { number: formatNumber(refused.length) })}>
      <ul className="mb-1 list-disc pl-5 wrap-anywhere">
        {refused.slice(0, maxReasons).map(({ table, reason }) => (
          <li key={`${table} ${reason}`}>
            <code className="text-xs">{table}</code> <span lang="en">{reason}</span>
          </li>
        ))}
      </ul>
      <p>{t('report.refused_text')}</p>
    </Banner>
  )
}

function Findings({ findings }: { findings: Finding[] }) {
  const { t } = useTranslation('moving')
  return (
    <ul className="divide-y divide-line">
      {findings.map(({ table, what, reason, count, ids }) => (
        <li
          key={`${table} ${what} ${reason}`}
          className="flex flex-wrap items-start gap-x-3 gap-y-1 py-2.5 text-sm first:pt-0"
        >
          <span className="shrink-0 sm:w-36">
            <Badge tone={tones[what]}>{t(`report.${names[what]}`)}</Badge>
          </span>
          <div className="min-w-0 flex-1 basis-52">
            <p className="wrap-anywhere">
              <code className="text-xs">{table}</code> <span lang="en">{reason}</span>
            </p>
            <p className="text-muted wrap-anywhere">
              {t('report.rows', { number: formatNumber(count) })}
              {ids.length > 0 &&
                ` · ${t('report.ids', { ids: `${ids.join(', ')}${count > ids.length ? ', …' : ''}` })}`}
            </p>
          </div>
        </li>
      ))}
    </ul>
  )
}

/** Sentences of the command line about the dump, and what stays behind. */
function Remarks({ report }: { report: Report }) {
  const { t } = useTranslation('moving')
  const { notes, unknown_tables: unknown, ignored, removed } = report
  const rows = (table: string, number: number) =>
    `${table}: ${t('report.rows', { number: formatNumber(number) })}`
  const texts = [
    ...(unknown.length > 0 ? [t('report.unknown', { tables: unknown.join(', ') })] : []),
    ...ignored.map(({ column, rows: number }) => `${t('report.left')}: ${rows(column, number)}`),
    ...Object.entries(removed).map(
      ([table, number]) => `${table}: ${t('report.removed', { rows: formatNumber(number) })}`,
    ),
  ]
  if (texts.length + notes.length === 0) return null
  return (
    <ul className="flex flex-col gap-1 text-sm text-muted wrap-anywhere">
      {notes.map((note) => (
        <li key={note} lang="en">
          {note}
        </li>
      ))}
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  )
}

function Tables({ report, isCheck }: { report: Report; isCheck: boolean }) {
  const { t } = useTranslation('moving')
  const heads = ['found', 'movable', ...(isCheck ? [] : ['written'])]
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-sm">
        <thead>
          <tr className="border-b border-line text-left text-muted">
            <th scope="col" className="py-2 pr-3 font-medium">
              {t('report.table')}
            </th>
            {heads.map((name) => (
              <th key={name} scope="col" className="py-2 pl-3 text-right font-medium">
                {t(`report.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {report.tables.map(({ table, found, movable, written }) => (
            <tr key={table} className={found === 0 ? 'text-muted' : undefined}>
              <th scope="row" className="py-1.5 pr-3 text-left font-normal">
                <code className="text-xs">{table}</code>
              </th>
              <Count value={found} />
              <Count value={movable} isLess={movable < found} />
              {!isCheck && <Count value={written ?? 0} />}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const Count = ({ value, isLess = false }: { value: number; isLess?: boolean }) => (
  <td className={`py-1.5 pl-3 text-right tabular-nums ${isLess ? 'font-medium text-warn' : ''}`}>
    {formatNumber(value)}
  </td>
)
