import { useTranslation } from '../../app/use-translation.ts'
import { formatBytes } from '../../app/formats.ts'
import { Banner } from '../../components/badge.tsx'
import { Card } from '../../components/card.tsx'
import { Progress } from '../../components/meter.tsx'
import type { MoveIn } from '../resources.ts'
import { ChosenDump, DiscardMove } from './chosen-dump.tsx'
import { MoveFault } from './move-fault.tsx'
import { MoveProgress } from './move-progress.tsx'
import { CheckVerdict, MoveReport } from './move-report.tsx'
import { MoveResult } from './move-result.tsx'
import { OldPanelForm } from './old-panel-form.tsx'
import { StartMove } from './start-move.tsx'
import { UploadDump } from './upload-dump.tsx'

/** Shows a move as far as it is, and what can be done next. */
export function MoveView({ move }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  const isUnfinished = move.stage === 'cancelled' || move.stage === 'interrupted' || move.stage === 'expired'
  // In one place, so that an upload goes on when the panel tells of it.
  if (isUnfinished || move.stage === null || move.stage === 'uploading')
    return (
      <>
        {isUnfinished && (
          <Banner tone="warn" title={t(`ended.${move.stage}`)}>
            {move.stage !== 'expired' && t('ended.resume')}
          </Banner>
        )}
        <UploadDump move={move} />
      </>
    )
  if (move.stage === 'done') return <MoveResult move={move} />
  if (move.other_machine !== null)
    return (
      <Banner
        tone="warn"
        title={t('elsewhere', { machine: move.other_machine })}
        actions={<DiscardMove move={move} />}
      >
        {t('elsewhere_text')}
      </Banner>
    )
  if (move.stage === 'moving' || move.stage === 'comparing') return <MoveProgress move={move} />
  if (move.stage === 'checking') return <Checking move={move} />
  return <Prepared move={move} />
}

/** What waits for a decision: a dump, and what its check found. What can be done next comes before the long report. */
function Prepared({ move }: { move: MoveIn }) {
  const isChecked = move.report !== null && move.fault === null
  // Anew after each check, with what that was made with.
  const form = <OldPanelForm key={`${move.stage}-${move.timezone}`} move={move} />
  return (
    <>
      <ChosenDump move={move} />
      {move.fault && <MoveFault fault={move.fault} hasMoved={move.stage === 'failed'} />}
      {isChecked && move.report && <CheckVerdict report={move.report} />}
      {move.can_start ? <StartMove move={move} /> : form}
      {isChecked && move.report && <MoveReport report={move.report} />}
      {move.can_start && form}
    </>
  )
}

function Checking({ move }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  return (
    <Card title={t('check.running')} text={t('check.nothing')} actions={<DiscardMove move={move} />}>
      <div className="flex flex-col gap-2">
        <Progress label={t('check.running')} ratio={null} />
        <p className="text-sm text-muted wrap-anywhere">
          {move.file && t('dump.file', { name: move.file.name, size: formatBytes(move.file.size) })}
        </p>
      </div>
    </Card>
  )
}
