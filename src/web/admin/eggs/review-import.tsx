import { CircleAlert, CircleCheck } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Switch } from '../../components/switch.tsx'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import type { Nest } from '../resources.ts'
import { EggDifferenceView } from './egg-difference.tsx'
import type { Comparison, Outcome } from './egg-documents.ts'

const stateTones = { new: 'good', updated: 'info', unchanged: 'plain' } satisfies Record<string, Tone>

/** Whether a document is imported unless the user decides otherwise: not over an egg that came from elsewhere. */
export const isChosenAtFirst = ({ difference }: Comparison) =>
  difference !== undefined && difference.state !== 'unchanged' && !difference.egg?.has_other_origin

/** Shows what each document would change, and lets the user choose which are imported. */
export const ReviewImport = ({
  nest,
  comparisons,
  chosen,
  onChoose,
}: {
  nest: Pick<Nest, 'id'>
  comparisons: readonly Comparison[]
  /** Positions of the documents that are to be imported. */
  chosen: readonly number[]
  onChoose: (chosen: number[]) => void
}) => (
  <ul className="flex flex-col gap-5">
    {comparisons.map((comparison, at) => (
      <li key={`${at} ${comparison.name}`} className="flex min-w-0 flex-col gap-3">
        <ComparisonView
          nest={nest}
          comparison={comparison}
          isChosen={chosen.includes(at)}
          onChange={(isChosen) =>
            onChoose(isChosen ? [...chosen, at] : chosen.filter((other) => other !== at))
          }
        />
      </li>
    ))}
  </ul>
)

type ComparisonProps = {
  nest: Pick<Nest, 'id'>
  comparison: Comparison
  isChosen: boolean
  onChange: (isChosen: boolean) => void
}

function ComparisonView({
  nest,
  comparison: { name, difference, error },
  isChosen,
  onChange,
}: ComparisonProps) {
  const { t } = useTranslation('admin')
  if (!difference) return <Failure text={`${name}: ${error}`} />
  const { state, egg, warnings } = difference
  return (
    <>
      <div>
        <h3 className="flex flex-wrap items-center gap-2 font-semibold">
          <span className="wrap-anywhere">{difference.name}</span>
          <Badge tone={stateTones[state]}>{t(`eggs.state_${state}`)}</Badge>
        </h3>
        <p className="text-sm wrap-anywhere text-muted">{name}</p>
        {egg && (
          <p className="text-sm text-muted">
            {t(`eggs.matched_${egg.matched_by}`)}{' '}
            <AdminLink to={`nests/${nest.id}/${egg.id}`} className={linkStyle}>
              {egg.name} (#{egg.id})
            </AdminLink>
          </p>
        )}
      </div>
      {state !== 'unchanged' && (
        <Switch
          label={t('eggs.include', { name: difference.name })}
          {...(egg?.has_other_origin ? { hint: t('eggs.other_origin') } : {})}
          checked={isChosen}
          onChange={onChange}
        />
      )}
      {warnings.map((warning) => (
        <p key={warning} className="text-sm wrap-anywhere text-warn">
          {warning}
        </p>
      ))}
      {state === 'updated' && <EggDifferenceView difference={difference} />}
    </>
  )
}

const Failure = ({ text }: { text: string }) => (
  <p role="alert" className="flex items-start gap-2 text-sm">
    <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
    <span className="min-w-0 wrap-anywhere">{text}</span>
  </p>
)

/** Says what came of each import. */
export function Outcomes({ outcomes }: { outcomes: readonly Outcome[] }) {
  const { t } = useTranslation('admin')
  return (
    <ul role="status" className="flex flex-col gap-2 text-sm">
      {outcomes.map(({ name, imported, error }) => (
        <li key={name}>
          {imported ? (
            <p className="flex items-start gap-2">
              <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
              <span className="min-w-0 wrap-anywhere">
                {t(`eggs.imported_${imported.meta.state}`, { name: imported.attributes.name })}
              </span>
            </p>
          ) : (
            <Failure text={`${name}: ${error}`} />
          )}
        </li>
      ))}
    </ul>
  )
}
