import { useQuery } from '@tanstack/react-query'
import { Stethoscope } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { adminQuery } from '../../api/admin.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Loaded } from '../../components/states.tsx'
import type { Item, Node, NodeDoctor as Doctor } from '../resources.ts'

type Check = Doctor['checks'][number]

const tones: Record<Check['state'], Tone> = {
  ok: 'good',
  warning: 'warn',
  failed: 'bad',
  skipped: 'plain',
  unknown: 'plain',
}

/** Looks at a node now, and says what is wrong with the way to it. */
export function NodeDoctor({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  const query = useQuery({
    ...adminQuery<Item<Doctor>>(`/nodes/${node.id}/doctor`),
    select: ({ attributes }) => attributes,
    staleTime: 60_000,
    retry: false,
  })
  return (
    <Card
      title={t('nodes.part_doctor')}
      text={t('nodes.doctor_text')}
      actions={
        <Button icon={Stethoscope} busy={query.isFetching} onClick={() => void query.refetch()}>
          {t('nodes.check')}
        </Button>
      }
    >
      <Loaded query={query}>{({ checks }) => <DoctorChecks checks={checks} />}</Loaded>
    </Card>
  )
}

/** What the doctor found, check by check. */
export const DoctorChecks = ({ checks }: { checks: readonly Check[] }) => (
  <ul className="divide-y divide-line text-sm">
    {checks.map((check) => (
      <li key={check.id} className="flex items-start gap-3 py-2.5">
        {check.id === 'browser' ? <BrowserState check={check} /> : <State state={check.state} />}
        <div className="min-w-0">
          <p className="wrap-anywhere">{check.meaning}</p>
          {check.advice && <p className="text-muted wrap-anywhere">{check.advice}</p>}
        </div>
      </li>
    ))}
  </ul>
)

function State({ state }: { state: Check['state'] }) {
  const { t } = useTranslation('admin')
  return <Badge tone={tones[state]}>{t(`nodes.check_${state}`)}</Badge>
}

/** Whether this browser reaches the daemon, which only it can tell. */
function BrowserState({ check: { url, state } }: { check: Check }) {
  const isReached = useBrowserReach(url)
  if (isReached === undefined) return <State state={state} />
  return <State state={isReached ? 'ok' : 'failed'} />
}

/** Tries whether this browser gets an answer at an address; undefined until it is known, and without one. */
export const useBrowserReach = (url: string | null): boolean | undefined =>
  useQuery({
    queryKey: ['admin', 'reach', url],
    queryFn: ({ signal }) =>
      fetch(url ?? '', { mode: 'no-cors', signal }).then(
        () => true,
        () => false,
      ),
    enabled: url !== null,
    retry: false,
  }).data
