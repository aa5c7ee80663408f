import { queryOptions, useQuery } from '@tanstack/react-query'
import { CircleCheck, LoaderCircle } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminGet, adminSend, refetchAdmin } from '../../api/admin.ts'
import { formatNumber } from '../../app/formats.ts'
import { Banner } from '../../components/badge.tsx'
import { Card } from '../../components/card.tsx'
import { Loaded } from '../../components/states.tsx'
import { DoctorChecks, useBrowserReach } from '../nodes/node-doctor.tsx'
import type { Heartbeat, Item, Node, NodeDoctor } from '../resources.ts'

/** Milliseconds between two questions while the node does not answer. */
const askIntervalMs = 4000

type Answer = { heartbeat: Heartbeat; doctor: NodeDoctor }

/** Asks the node, and the doctor what is wrong with the way to it, until the node answers. */
const answerQuery = (id: number) =>
  queryOptions({
    // Not below the key of administrators, whose changes would ask again.
    queryKey: ['setup', 'node', id],
    queryFn: async ({ signal }): Promise<Answer> => {
      const { attributes: heartbeat } = await adminSend<Item<Heartbeat>>('POST', `/nodes/${id}/heartbeat`)
      const { attributes: doctor } = await adminGet<Item<NodeDoctor>>(`/nodes/${id}/doctor`, {}, signal)
      return { heartbeat, doctor }
    },
    refetchInterval: ({ state }) => (state.data?.heartbeat.state === 'up' ? false : askIntervalMs),
  })

/** Waits for the first answer of a node, and says what is wrong while it does not come. The children are what has to be done for it. */
export function NodeWait({ node, children }: { node: Node; children: ReactNode }) {
  const query = useQuery(answerQuery(node.id))
  const isUp = query.data?.heartbeat.state === 'up'
  useEffect(() => {
    if (isUp) void refetchAdmin()
  }, [isUp])
  return (
    <>
      {!isUp && children}
      <Loaded query={query}>
        {(answer) =>
          isUp ? <Answered node={node} answer={answer} /> : <Waiting node={node} answer={answer} />
        }
      </Loaded>
    </>
  )
}

function Waiting({ node, answer: { heartbeat, doctor } }: { node: Node; answer: Answer }) {
  const { t } = useTranslation('admin')
  const checks = doctor.checks.filter(({ id }) => id !== 'browser')
  const problem = checks.find(({ state }) => state === 'failed')
  return (
    <Card title={t('nodes.waiting', { name: node.name })} text={t('setup.waiting_text')}>
      <p role="status" className="flex items-start gap-2 text-sm font-medium">
        <LoaderCircle aria-hidden className="mt-0.5 size-4 shrink-0 animate-spin text-muted" />
        {t(`nodes.cause_${heartbeat.cause ?? 'unreachable'}`)}
      </p>
      {problem && (
        <div className="mt-2">
          <DoctorChecks checks={[problem]} />
        </div>
      )}
      <AllChecks checks={checks} />
    </Card>
  )
}

function Answered({ node, answer: { heartbeat, doctor } }: { node: Node; answer: Answer }) {
  const { t } = useTranslation('admin')
  const browser = doctor.checks.find(({ id }) => id === 'browser')
  const isReached = useBrowserReach(browser?.url ?? null)
  const concerns = doctor.checks.filter(
    ({ id, state }) => id !== 'browser' && (state === 'failed' || state === 'warning'),
  )
  return (
    <Card>
      <p role="status" className="flex items-start gap-2 font-medium">
        <CircleCheck aria-hidden className="mt-0.5 size-5 shrink-0 text-good" />
        {t('setup.answered', { name: node.name })}
      </p>
      <p className="mt-1 text-sm text-muted">
        {[
          heartbeat.version && `Wings ${heartbeat.version}`,
          heartbeat.latency_ms !== null && `${formatNumber(heartbeat.latency_ms)} ms`,
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {browser && isReached === false && (
        <div className="mt-3">
          <Banner tone="warn" title={t('setup.not_reached')}>
            {t('setup.not_reached_text')} <code className="wrap-anywhere">{browser.url}</code>
          </Banner>
        </div>
      )}
      {concerns.length > 0 && <DoctorChecks checks={concerns} />}
      <AllChecks checks={doctor.checks} />
    </Card>
  )
}

function AllChecks({ checks }: { checks: NodeDoctor['checks'] }) {
  const { t } = useTranslation('admin')
  return (
    <details className="mt-3">
      <summary className="cursor-pointer text-sm text-muted hover:text-ink">{t('setup.checks')}</summary>
      <DoctorChecks checks={checks} />
    </details>
  )
}
