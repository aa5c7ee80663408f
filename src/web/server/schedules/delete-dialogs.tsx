import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from '../../app/use-translation.ts'
import { deleteSchedule, deleteTask, type Schedule, schedulesKey, type Task } from '../../api/schedules.ts'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'

type Props = { schedule: Schedule; onClose: () => void }

/** Asks for confirmation, deletes a schedule and shows the others. */
export function DeleteSchedule({ schedule, onClose }: Props) {
  const { t } = useTranslation('schedules')
  const { id } = useServer()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const deletion = useMutation({
    mutationFn: () => deleteSchedule(id, schedule.id),
    onSuccess: async () => {
      toast(t('deleted'))
      await navigate({ to: '/server/$server/schedules', params: { server: id } })
      queries.removeQueries({ queryKey: [...schedulesKey(id), schedule.id] })
      await queries.invalidateQueries({ queryKey: schedulesKey(id) })
    },
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('delete_title', { name: schedule.name })}
      text={t('delete_text')}
      action={t('strings:action.delete')}
      busy={deletion.isPending}
      error={deletion.error}
      onConfirm={() => deletion.mutate()}
    />
  )
}

/** Asks for confirmation, then deletes a task. */
export function DeleteTask({ schedule, task, onClose }: Props & { task: Task }) {
  const { t } = useTranslation('schedules')
  const { id } = useServer()
  const queries = useQueryClient()
  const deletion = useMutation({
    mutationFn: () => deleteTask(id, schedule.id, task.id),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: schedulesKey(id) }),
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('task_delete_title')}
      text={t('task_delete_text')}
      action={t('strings:action.delete')}
      busy={deletion.isPending}
      error={deletion.error}
      onConfirm={() => deletion.mutate()}
    />
  )
}
