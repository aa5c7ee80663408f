import { useQuery } from '@tanstack/react-query'
import { Stethoscope } from 'lucide-react'
import { useLoadedTexts, useTranslation } from '../../app/use-translation.ts'
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
export function DoctorChecks({ checks }: { checks: readonly Check[] }) {
  const areTextsThere = useLoadedTexts('doctor')
  if (!areTextsThere) return null
  return (
    <ul className="divide-y divide-line text-sm">
      {checks.map((check) =>
        check.id === 'browser' ? (
          <BrowserFinding key={check.id} check={check} />
        ) : (
          <Finding key={check.id} {...check} />
        ),
      )}
    </ul>
  )
}

type FindingProps = Pick<Check, 'state' | 'values' | 'url'> & {
  /** Stands for the texts, also for those that only the browser knows. */
  code: string
}

function Finding({ state, code, values, url }: FindingProps) {
  const { t } = useTranslation('doctor')
  const advice = t(`${code}.advice`, { ...values, defaultValue: '' })
  return (
    <li className="flex items-start gap-3 py-2.5">
      <Badge tone={tones[state]}>{t(`admin:nodes.check_${state}`)}</Badge>
      <div className="min-w-0">
        <p className="wrap-anywhere">{t(`${code}.meaning`, values)}</p>
        {advice !== '' && <p className="text-muted wrap-anywhere">{advice}</p>}
        {url !== null && state !== 'ok' && (
          <a href={url} target="_blank" rel="noreferrer" className="text-brand-text underline wrap-anywhere">
            {url}
          </a>
        )}
      </div>
    </li>
  )
}

/** Whether this browser reaches the daemon, which only it can tell, unless it is known that none can. */
function BrowserFinding({ check }: { check: Check }) {
  const isReached = useBrowserReach(check.state === 'unknown' ? check.url : null)
  if (isReached === undefined) return <Finding {...check} />
  if (isReached === null) return <Finding {...check} code="browser.blocked" />
  return isReached ? (
    <Finding {...check} state="ok" code="browser.reached" />
  ) : (
    <Finding {...check} state="failed" code="browser.unreached" />
  )
}

/**
 * Tries whether this browser gets an answer at an address. Null: the policy of the page forbids to try, as it does for
 * nodes that are newer than the page. Undefined until it is known, and without an address.
 */
export const useBrowserReach = (url: string | null): boolean | null | undefined =>
  useQuery({
    queryKey: ['admin', 'reach', url],
    queryFn: ({ signal }) => tryToReach(url ?? '', signal),
    enabled: url !== null,
    retry: false,
  }).data

async function tryToReach(url: string, signal: AbortSignal): Promise<boolean | null> {
  const { origin } = new URL(url)
  let isForbidden = false
  const onViolation = ({ blockedURI }: SecurityPolicyViolationEvent) => {
    isForbidden ||= blockedURI.startsWith(origin)
  }
  document.addEventListener('securitypolicyviolation', onViolation)
  try {
    await fetch(url, { mode: 'no-cors', signal })
    return true
  } catch {
    // The event of a violation comes after the failure.
    await new Promise((resolve) => setTimeout(resolve))
    return isForbidden ? null : false
  } finally {
    document.removeEventListener('securitypolicyviolation', onViolation)
  }
}
