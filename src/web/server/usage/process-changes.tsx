import { useTranslation } from '../../app/use-translation.ts'
import type { ProcessChange } from '../../api/usage.ts'
import { formatDateTime } from '../../app/formats.ts'
import { Card } from '../../components/card.tsx'
import { markOf } from './change-marks.ts'
import { shapePath } from './chart-drawing.ts'

const maxShown = 10

/** What happened to the process in the period, the newest first, in the shapes of the charts. */
export function ProcessChanges({ changes }: { changes: readonly ProcessChange[] }) {
  const { t } = useTranslation('usage')
  const newest = changes.toReversed().slice(0, maxShown)
  const crashes = changes.filter(({ change }) => change === 'crash').length
  return (
    <Card
      // Takes the whole row where no chart stands beside it.
      className="xl:last:odd:col-span-2"
      title={t('changes')}
      text={
        crashes > 0 ? t('crashes', { count: crashes }) : changes.length === 0 ? t('no_changes') : undefined
      }
    >
      {newest.length > 0 && (
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(18rem,100%),1fr))] gap-x-6 gap-y-2 text-sm">
          {newest.map(({ at, change }) => (
            <li key={`${at} ${change}`} className="flex items-center gap-2">
              <ChangeShape change={change} />
              <span className={change === 'crash' ? 'font-medium text-bad' : 'font-medium'}>
                {t(`change.${change}`)}
              </span>
              <time dateTime={at} className="ms-auto text-muted tabular-nums">
                {formatDateTime(at)}
              </time>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function ChangeShape({ change }: { change: ProcessChange['change'] }) {
  const { shape, colour } = markOf(change)
  return (
    <svg aria-hidden viewBox="-1.5 -1.5 3 3" className="size-3.5 shrink-0">
      <path d={shapePath(shape)} style={{ fill: `var(${colour})` }} />
    </svg>
  )
}
