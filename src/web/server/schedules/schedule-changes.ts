import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import {
  changeSchedule,
  fetchNewestRun,
  type Run,
  scheduleInputOf,
  runSchedule,
  type Schedule,
  schedulesKey,
} from '../../api/schedules.ts'
import { toast, toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'

/** Turns a schedule on or off optimistically. */
export function useActiveSwitch(schedule: Schedule) {
  const { t } = useTranslation('schedules')
  const { id } = useServer()
  const queries = useQueryClient()
  const list = schedulesKey(id)
  const one = [...list, schedule.id]
  const show = (is_active: boolean) => {
    queries.setQueryData<Schedule[]>(list, (shown) =>
      shown?.map((row) => (row.id === schedule.id ? { ...row, is_active } : row)),
    )
    queries.setQueryData<Schedule>(one, (shown) => shown && { ...shown, is_active })
  }
  return useMutation({
    mutationFn: (is_active: boolean) =>
      changeSchedule(id, schedule.id, { ...scheduleInputOf(schedule), is_active }),
    onMutate: async (is_active) => {
      await queries.cancelQueries({ queryKey: list })
      show(is_active)
    },
    onError: (error, is_active) => {
      show(!is_active)
      toastError(error, t('switch_failed'))
    },
    onSettled: () => queries.invalidateQueries({ queryKey: list }),
  })
}

/** How often a run is asked about, and for how long: its steps may wait for minutes. */
const resultIntervalMs = 3000
const maxResultAsks = 300

/** Waits for the end of the newest run; null when it takes too long. */
async function awaitRun(server: string, schedule: number): Promise<Run | null> {
  for (let ask = 0; ask < maxResultAsks; ask += 1) {
    const run = await fetchNewestRun(server, schedule)
    if (run && run.state !== 'running') return run
    await new Promise((resolve) => setTimeout(resolve, resultIntervalMs))
  }
  return null
}

/** Runs a schedule now, and says when it has ended how it went. */
export function useRunNow(schedule: Schedule) {
  const { t } = useTranslation('schedules')
  const { id } = useServer()
  const queries = useQueryClient()
  const tellResult = (run: Run | null) => {
    if (!run) return
    const text = `${schedule.name}: ${t(`run_state.${run.state}`)}`
    if (run.state === 'succeeded') toast(text)
    else toastError(null, text)
    void queries.invalidateQueries({ queryKey: schedulesKey(id) })
  }
  return useMutation({
    mutationFn: () => runSchedule(id, schedule.id),
    onSuccess: () => {
      toast(t('run_started'))
      // Without an answer the page shows the result all the same.
      awaitRun(id, schedule.id).then(tellResult, () => undefined)
    },
    onError: (error) => toastError(error, t('run_failed')),
    onSettled: () => queries.invalidateQueries({ queryKey: schedulesKey(id) }),
  })
}
