import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import {
  changeSchedule,
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

/** Runs a schedule now. */
export function useRunNow(schedule: Schedule) {
  const { t } = useTranslation('schedules')
  const { id } = useServer()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => runSchedule(id, schedule.id),
    onSuccess: () => toast(t('run_started')),
    onError: (error) => toastError(error, t('run_failed')),
    onSettled: () => queries.invalidateQueries({ queryKey: schedulesKey(id) }),
  })
}
