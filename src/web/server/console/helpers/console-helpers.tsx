import { TriangleAlert, X } from 'lucide-react'
import { useState, useSyncExternalStore } from 'react'
import { useTranslation } from '../../../app/use-translation.ts'
import { IconButton } from '../../../components/button.tsx'
import { useServer } from '../../server-context.tsx'
import { isBlocked } from '../../server-state.ts'
import type { LogTerminal } from '../terminal.ts'
import { EulaDialog } from './eula-dialog.tsx'
import { ProblemAction } from './problem-actions.tsx'
import type { Problem } from './recognise.ts'
import { ProblemWatch } from './problem-watch.ts'

/** Says what is wrong when the output tells of a known problem, and offers what helps. */
export default function ConsoleHelpers({ terminal }: { terminal: LogTerminal | null }) {
  const { server, socket, log } = useServer()
  const [watch] = useState(() => new ProblemWatch(socket, log))
  const problem = useSyncExternalStore(watch.subscribe, watch.problem)
  const dismiss = () => watch.dismiss()
  if (!problem || isBlocked(server)) return null
  return (
    <>
      <ProblemNotice key={problem.name} problem={problem} terminal={terminal} onDismiss={dismiss} />
      {problem.name === 'eula' && server.egg_features?.includes('eula') && <AskOnce onDone={dismiss} />}
    </>
  )
}

/** Asks at once where the egg says that its game has an EULA. */
function AskOnce({ onDone }: { onDone: () => void }) {
  const [open, setOpen] = useState(true)
  return <EulaDialog open={open} onOpenChange={setOpen} onAccepted={onDone} />
}

function ProblemNotice({
  problem,
  terminal,
  onDismiss,
}: {
  problem: Problem
  terminal: LogTerminal | null
  onDismiss: () => void
}) {
  const { t } = useTranslation('helpers')
  const { name, actions, java } = problem
  const text = java === null ? t(`${name}.text`) : t(`${name}.text_version`, { version: java })
  return (
    <section
      role="status"
      aria-label={t(`${name}.title`)}
      className="flex items-start gap-3 border-t border-line bg-warn-soft px-3 py-2.5 text-sm"
    >
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
      <div className="flex min-w-0 flex-1 flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <p className="font-semibold">{t(`${name}.title`)}</p>
          <p className="mt-0.5 wrap-anywhere max-sm:line-clamp-5">{text}</p>
        </div>
        <div className="flex flex-wrap gap-2">
          {actions.map((action) => (
            <ProblemAction
              key={action}
              action={action}
              problem={problem}
              terminal={terminal}
              onDone={onDismiss}
            />
          ))}
        </div>
      </div>
      <IconButton icon={X} label={t('dismiss')} onClick={onDismiss} className="-my-1" />
    </section>
  )
}
