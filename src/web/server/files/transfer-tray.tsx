import { ChevronDown, ChevronUp, LoaderCircle, Pause, Play, X } from 'lucide-react'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatBytes, formatDuration } from '../../app/formats.ts'
import { site } from '../../app/site.ts'
import { useIsWide } from '../../app/use-is-wide.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { Progress } from '../../components/meter.tsx'
import { runningTasks, type Task } from './tasks.ts'
import { summarize, type TransferSummary } from './transfer-summary.ts'
import { isPending, type UploadQueue, uploadQueues } from './upload-queue.ts'
import { UploadRows } from './upload-rows.tsx'

/** Shows the uploads and tasks of all servers below every page; nothing while there are none. */
export function TransferTray() {
  const queues = useSyncExternalStore(uploadQueues.subscribe, uploadQueues.getSnapshot)
  const tasks = useSyncExternalStore(runningTasks.subscribe, runningTasks.getSnapshot)
  const isBusy = queues.some((queue) => queue.uploads.some(isPending))
  useLeaveWarning(isBusy || tasks.some(({ cancel }) => cancel !== null))
  if (queues.length === 0 && tasks.length === 0) return null
  return <Tray queues={queues} tasks={tasks} isBusy={isBusy} />
}

function Tray({
  queues,
  tasks,
  isBusy,
}: {
  queues: readonly UploadQueue[]
  tasks: readonly Task[]
  isBusy: boolean
}) {
  const { t } = useTranslation('files')
  const isWide = useIsWide()
  const [choice, setChoice] = useState<boolean | null>(null)
  // Once all has arrived, the tray says so in one line.
  const isOver = queues.every((queue) => queue.uploads.every(({ state }) => state === 'done'))
  const isOpen = choice ?? (isWide && !isOver)
  const now = useNow(isBusy)
  const tray = useRef<HTMLElement>(null)
  usePlaceBelow(tray)
  const summary = summarize(queues, now)
  return (
    <section
      ref={tray}
      aria-label={t('tray.label')}
      className={classNames(
        'sticky z-30 border-t border-line-strong bg-surface shadow-2xl',
        // The bar of an administrator who acts for the user stands below it.
        site.acting ? 'bottom-[calc(var(--bottom-bar)+3.25rem)]' : 'bottom-(--bottom-bar)',
      )}
    >
      <div className="mx-auto max-w-[100rem] lg:px-2">
        {tasks.map((task) => (
          <TaskRow key={task.id} task={task} />
        ))}
        {queues.length > 0 && (
          <UploadsHeader queues={queues} summary={summary} isOpen={isOpen} onOpen={setChoice} />
        )}
        {isOpen && <UploadRows queues={queues} />}
      </div>
    </section>
  )
}

function UploadsHeader({
  queues,
  summary,
  isOpen,
  onOpen,
}: {
  queues: readonly UploadQueue[]
  summary: TransferSummary
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
}) {
  const { t } = useTranslation('files')
  const { openCount, failedCount, sendingCount, isPaused, sent, size } = summary
  const title =
    openCount > 0
      ? t('upload.open', { count: openCount })
      : failedCount > 0
        ? t('upload.some_failed', { count: failedCount })
        : t('upload.over')
  const setPaused = (next: boolean) => queues.forEach((queue) => queue.setPaused(next))
  const cancelAll = () =>
    queues.forEach((queue) => queue.cancel(...queue.uploads.filter(isPending).map(({ id }) => id)))
  return (
    <header className="flex flex-col gap-1.5 px-4 py-2">
      <div className="flex items-center gap-3">
        <div className="min-w-0 flex-1">
          <p aria-live="polite" className="text-sm font-medium tabular-nums">
            {title}
          </p>
          {openCount > 0 && (
            <p className="text-xs text-muted tabular-nums">
              {isPaused ? t(sendingCount > 0 ? 'tray.pausing' : 'tray.paused') : <Pace summary={summary} />}
            </p>
          )}
        </div>
        <div className="flex shrink-0 items-center gap-1">
          {openCount > 0 ? (
            <>
              <IconButton
                icon={isPaused ? Play : Pause}
                label={t(isPaused ? 'tray.resume' : 'tray.pause')}
                onClick={() => setPaused(!isPaused)}
              />
              <Button variant="quiet" onClick={cancelAll}>
                {t('upload.cancel_all')}
              </Button>
            </>
          ) : (
            <Button variant="quiet" onClick={() => queues.forEach((queue) => queue.clear())}>
              {t('upload.clear')}
            </Button>
          )}
          <IconButton
            icon={isOpen ? ChevronDown : ChevronUp}
            label={t(isOpen ? 'tray.hide' : 'tray.show')}
            aria-expanded={isOpen}
            onClick={() => onOpen(!isOpen)}
          />
        </div>
      </div>
      {openCount > 0 && <Progress label={t('upload.progress')} ratio={size > 0 ? sent / size : null} />}
    </header>
  )
}

/** How much is sent, how fast, and how long it will take. */
function Pace({ summary: { sent, size, bytesPerSecond, remainingMs } }: { summary: TransferSummary }) {
  const { t } = useTranslation('files')
  return (
    <>
      {t('upload.sent', { sent: formatBytes(sent), size: formatBytes(size) })}
      {bytesPerSecond !== null && ` · ${t('tray.speed', { speed: formatBytes(bytesPerSecond) })}`}
      {remainingMs !== null && ` · ${t('tray.remaining', { time: formatDuration(remainingMs + 999) })}`}
    </>
  )
}

function TaskRow({ task }: { task: Task }) {
  const { t } = useTranslation('files')
  return (
    <div
      role="status"
      className="flex min-h-12 items-center gap-3 border-b border-line px-4 py-1.5 last:border-b-0"
    >
      <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin text-info" />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="text-sm wrap-anywhere">{task.text}</p>
        {task.size !== null && <Progress label={task.text} ratio={task.done / Math.max(1, task.size)} />}
      </div>
      {task.cancel && <IconButton icon={X} label={t('tray.cancel_task')} onClick={task.cancel} />}
    </div>
  )
}

/** Returns the time, each second while uploads run. */
function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isTicking) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [isTicking])
  return now
}

/** Tells the page how much of the window the tray covers, so that nothing is docked behind it. */
function usePlaceBelow(tray: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const { style } = document.documentElement
    const measure = () => style.setProperty('--tray-height', `${tray.current?.offsetHeight ?? 0}px`)
    const observer = new ResizeObserver(measure)
    if (tray.current) observer.observe(tray.current)
    measure()
    return () => {
      observer.disconnect()
      style.removeProperty('--tray-height')
    }
  }, [tray])
}

/** Warns before the user leaves the panel, which would abort the uploads. */
function useLeaveWarning(isBusy: boolean): void {
  useEffect(() => {
    if (!isBusy) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isBusy])
}
