import { useTranslation } from '../../app/use-translation.ts'
import { useIsWide } from '../../app/use-is-wide.ts'
import { classNames } from '../../components/class-names.ts'
import { compareLines } from '../../components/line-difference.ts'
import { type DifferenceRow, type NumberedLine, rowsOf } from './difference-rows.ts'

/** Only this many rows are shown. */
const maxRows = 2000

const cell = 'px-2 align-top wrap-anywhere whitespace-pre-wrap'
const numberCell = 'px-1.5 text-end whitespace-nowrap align-top text-muted select-none tabular-nums'

/** Shows two texts beside each other; below each other where there is no room. */
export function DifferenceTable({
  before,
  after,
  titles,
}: {
  before: string
  after: string
  titles: { before: string; after: string }
}) {
  const { t } = useTranslation('files')
  const isWide = useIsWide()
  const rows = rowsOf(compareLines(before, after))
  if (!rows.some(({ kind }) => kind === 'changed'))
    return <p className="rounded-control bg-info-soft px-3 py-2 text-sm text-info">{t('difference.none')}</p>
  return (
    <div className="overflow-hidden rounded-control border border-line">
      <table className="w-full table-fixed border-collapse font-mono text-xs leading-5">
        <caption className="sr-only">{t('difference.title')}</caption>
        <colgroup>
          <col className="w-12" />
          <col />
          {isWide && <col className="w-12" />}
          {isWide && <col />}
        </colgroup>
        <thead className="bg-raised font-sans">
          <tr>
            <Title text={isWide ? titles.before : `${signs.removed} ${titles.before}`} />
            {isWide && <Title text={titles.after} />}
          </tr>
          {!isWide && (
            <tr>
              <Title text={`${signs.added} ${titles.after}`} />
            </tr>
          )}
        </thead>
        <tbody>
          {rows.slice(0, maxRows).map((row, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- rows have no other identity
            <Row key={at} row={row} isWide={isWide} />
          ))}
        </tbody>
      </table>
      {rows.length > maxRows && (
        <p className="border-t border-line px-3 py-2 text-sm text-muted">
          {t('more', { count: rows.length - maxRows })}
        </p>
      )}
    </div>
  )
}

const Title = ({ text }: { text: string }) => (
  <th scope="col" colSpan={2} className="px-2 py-1.5 text-start text-xs font-medium">
    {text}
  </th>
)

function Row({ row, isWide }: { row: DifferenceRow; isWide: boolean }) {
  const { t } = useTranslation('files')
  if (row.kind === 'skipped')
    return (
      <tr>
        <td colSpan={isWide ? 4 : 2} className="bg-canvas px-2 text-center text-muted italic">
          {t('difference.skipped', { lines: row.lines })}
        </td>
      </tr>
    )
  const isChanged = row.kind === 'changed'
  if (isWide)
    return (
      <tr>
        <Side line={row.before} tone={isChanged ? 'removed' : 'same'} />
        <Side line={row.after} tone={isChanged ? 'added' : 'same'} />
      </tr>
    )
  return (
    <>
      {row.before && (
        <tr>
          <Side line={row.before} tone={isChanged ? 'removed' : 'same'} />
        </tr>
      )}
      {isChanged && row.after && (
        <tr>
          <Side line={row.after} tone="added" />
        </tr>
      )}
    </>
  )
}

const tones = { same: '', removed: 'bg-bad-soft text-bad', added: 'bg-good-soft text-good' }
const signs = { same: '', removed: '−', added: '+' }

function Side({ line, tone }: { line: NumberedLine | null; tone: keyof typeof tones }) {
  const { t } = useTranslation('files')
  if (!line)
    return (
      <td colSpan={2} className="bg-canvas">
        <span className="sr-only">{t('difference.no_line')}</span>
      </td>
    )
  return (
    <>
      <td className={classNames(numberCell, tones[tone])}>
        <span aria-hidden>{signs[tone]}</span> {line.number}
      </td>
      <td className={classNames(cell, tones[tone])}>
        {tone !== 'same' && <span className="sr-only">{t(`difference.${tone}`)} </span>}
        {line.text}
      </td>
    </>
  )
}
