import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, GripVertical, ListChecks, Pencil, Plus, Trash2 } from 'lucide-react'
import { useLayoutEffect, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { rowsOf } from '../../api/resources.ts'
import { type Schedule, saveTask, schedulesKey, type Task } from '../../api/schedules.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, IconButton } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { classNames } from '../../components/class-names.ts'
import { EmptyState } from '../../components/states.tsx'
import { toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'
import { DeleteTask } from './delete-dialogs.tsx'
import { withMoved, useDragOrder } from './drag-order.ts'
import { TaskForm } from './task-form.tsx'
import { useAllowedActions } from './task-actions.ts'
import { TaskText } from './task-text.tsx'

type TaskDialog = { task?: Task; kind: 'edit' | 'delete' } | null

/** Lists the tasks of a schedule in order; they can be reordered. */
export function TaskList({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation('schedules')
  const { server, can } = useServer()
  const [dialog, setDialog] = useState<TaskDialog>(null)
  const hasActions = useAllowedActions().length > 0
  const mayChange = can('schedule.update') && !isBlocked(server)
  const isEmpty = schedule.relationships.tasks.data.length === 0
  const close = () => setDialog(null)
  const add = mayChange && (
    <Button icon={Plus} disabled={!hasActions} onClick={() => setDialog({ kind: 'edit' })}>
      {t('task_add')}
    </Button>
  )
  return (
    <Card title={t('tasks_title')} text={t('tasks_text')} actions={add}>
      {mayChange && !hasActions && <p className="mb-3 text-sm text-muted">{t('task_nothing_allowed')}</p>}
      {isEmpty ? (
        <EmptyState icon={ListChecks} title={t('tasks_empty')} text={t('tasks_empty_text')} />
      ) : (
        <OrderedTasks schedule={schedule} mayChange={mayChange} onOpen={setDialog} />
      )}
      {dialog?.kind === 'edit' && (
        <TaskForm schedule={schedule} {...(dialog.task ? { task: dialog.task } : {})} onClose={close} />
      )}
      {dialog?.kind === 'delete' && dialog.task && (
        <DeleteTask schedule={schedule} task={dialog.task} onClose={close} />
      )}
    </Card>
  )
}

type OrderedProps = { schedule: Schedule; mayChange: boolean; onOpen: (dialog: TaskDialog) => void }

function OrderedTasks({ schedule, mayChange, onOpen }: OrderedProps) {
  const { t } = useTranslation('schedules')
  const tasks = rowsOf(schedule.relationships.tasks)
  const [announcement, setAnnouncement] = useState('')
  const reorder = useReorder(schedule)
  const move = (from: number, to: number) => {
    const task = tasks[from]
    if (!task) return
    setAnnouncement(t('task_moved', { number: to + 1 }))
    reorder.mutate({ task, from, to })
  }
  const { list, dragged, orderOf, handle } = useDragOrder(move)
  return (
    <>
      <ol ref={list} aria-label={t('tasks_title')} className="flex flex-col gap-2">
        {tasks.map((task, index) => {
          const buttons = mayChange && (
            <TaskButtons
              index={index}
              count={tasks.length}
              onMove={move}
              onOpen={(kind) => onOpen({ task, kind })}
            />
          )
          return (
            <li
              key={task.id}
              style={{ order: orderOf(index) }}
              className={classNames(
                'flex flex-wrap items-start gap-x-2 gap-y-1 rounded-control border p-2 sm:flex-nowrap',
                index === dragged ? 'border-brand bg-brand-soft' : 'border-line',
              )}
            >
              {mayChange && tasks.length > 1 && (
                <button
                  type="button"
                  {...handle(index)}
                  aria-label={t('task_move', { number: index + 1 })}
                  className="flex size-9 shrink-0 cursor-grab touch-none items-center justify-center rounded-control text-muted hover:bg-raised active:cursor-grabbing"
                >
                  <GripVertical aria-hidden className="size-4" />
                </button>
              )}
              <TaskDetails task={task} isFirst={orderOf(index) === 0} />
              {buttons}
            </li>
          )
        })}
      </ol>
      <p aria-live="polite" className="sr-only">
        {announcement}
      </p>
    </>
  )
}

type ButtonsProps = {
  index: number
  count: number
  onMove: (from: number, to: number) => void
  onOpen: (kind: 'edit' | 'delete') => void
}

function TaskButtons({ index, count, onMove, onOpen }: ButtonsProps) {
  const { t } = useTranslation('schedules')
  const number = index + 1
  return (
    <div className="ms-auto flex shrink-0">
      {count > 1 && <MoveButtons index={index} count={count} onMove={onMove} />}
      <IconButton icon={Pencil} label={t('task_edit_of', { number })} onClick={() => onOpen('edit')} />
      <IconButton icon={Trash2} label={t('task_delete_of', { number })} onClick={() => onOpen('delete')} />
    </div>
  )
}

/** Buttons to move a task up or down. At either end the focus moves to the button that is still enabled. */
function MoveButtons({ index, count, onMove }: Omit<ButtonsProps, 'onOpen'>) {
  const { t } = useTranslation('schedules')
  const up = useRef<HTMLButtonElement>(null)
  const down = useRef<HTMLButtonElement>(null)
  const hasFocus = useRef(false)
  useLayoutEffect(() => {
    if (!hasFocus.current) return
    if (index === 0) down.current?.focus()
    else if (index === count - 1) up.current?.focus()
  }, [index, count])
  const number = index + 1
  return (
    <div
      className="flex"
      onFocus={() => {
        hasFocus.current = true
      }}
      onBlur={() => {
        hasFocus.current = false
      }}
    >
      <IconButton
        ref={up}
        icon={ArrowUp}
        label={t('task_up', { number })}
        disabled={index === 0}
        onClick={() => onMove(index, index - 1)}
      />
      <IconButton
        ref={down}
        icon={ArrowDown}
        label={t('task_down', { number })}
        disabled={index === count - 1}
        onClick={() => onMove(index, index + 1)}
      />
    </div>
  )
}

function TaskDetails({ task, isFirst }: { task: Task; isFirst: boolean }) {
  const { t } = useTranslation('schedules')
  const delay = task.time_offset
  return (
    <div className="min-w-40 flex-1 py-1.5 ps-1 text-sm">
      <TaskText {...task} />
      <div className="mt-0.5 flex flex-wrap gap-x-3 gap-y-1 ps-6 text-muted">
        {(delay > 0 || isFirst) && (
          <span className="tabular-nums">
            {delay > 0 ? t('task_delay', { count: delay }) : t('task_delay_none')}
          </span>
        )}
        {task.continue_on_failure && <span>{t('task_continue_short')}</span>}
        {task.is_queued && <Badge tone="info">{t('task_waits')}</Badge>}
      </div>
    </div>
  )
}

/** Moves a task optimistically. Several moves are sent one after the other. */
function useReorder(schedule: Schedule) {
  const { t } = useTranslation('schedules')
  const { id } = useServer()
  const queries = useQueryClient()
  const key = [...schedulesKey(id), schedule.id]
  const mutationKey = [...key, 'order']
  return useMutation({
    mutationKey,
    scope: { id: mutationKey.join(' ') },
    mutationFn: ({ task, to }: { task: Task; from: number; to: number }) => {
      const { action, payload, time_offset, continue_on_failure } = task
      const input = { action, payload, time_offset, continue_on_failure, sequence_id: to + 1 }
      return saveTask(id, schedule.id, task.id, input)
    },
    onMutate: async ({ from, to }) => {
      await queries.cancelQueries({ queryKey: key })
      const { tasks } = schedule.relationships
      const data = withMoved(tasks.data, from, to)
      queries.setQueryData<Schedule>(key, { ...schedule, relationships: { tasks: { ...tasks, data } } })
      return schedule
    },
    onError: (error, _, before) => {
      queries.setQueryData(key, before)
      toastError(error, t('task_move_failed'))
    },
    // Refetching between moves would undo those that are already shown.
    onSettled: () =>
      queries.isMutating({ mutationKey }) > 1
        ? undefined
        : queries.invalidateQueries({ queryKey: schedulesKey(id) }),
  })
}
