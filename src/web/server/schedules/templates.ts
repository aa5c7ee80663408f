import type { TFunction } from 'i18next'
import { useTranslation } from '../../app/use-translation.ts'
import type { CronFields, TaskInput } from '../../api/schedules.ts'
import { useServer } from '../server-context.tsx'
import { type Action, useAllowedActions, useAllowedSignals } from './task-actions.ts'

/** What a new schedule can start from. */
export const templateNames = ['restart', 'backup', 'announce'] as const
export type TemplateName = (typeof templateNames)[number]

type Template = { times: CronFields; onlyWhenOnline: boolean; tasks: TaskInput[] }

const everyDay = { day_of_month: '*', month: '*', day_of_week: '*' }

const command = (text: string, time_offset = 0): TaskInput => ({
  action: 'command',
  payload: `say ${text}`,
  time_offset,
  // A message that does not arrive is no reason to leave out the rest.
  continue_on_failure: true,
})

/** How many backups the template keeps where the server may have as many. */
const keptBackups = 4

/** Returns what builds a template: with messages in the language of the user, and as many backups as the server may have. */
export function useTemplates(): (name: TemplateName) => Template {
  const { t } = useTranslation('schedules')
  const { server } = useServer()
  const kept = Math.min(keptBackups, server.feature_limits.backups)
  return (name) => templateOf(name, t, kept)
}

function templateOf(name: TemplateName, t: TFunction<'schedules'>, kept: number): Template {
  const task = { payload: '', time_offset: 0, continue_on_failure: false }
  switch (name) {
    case 'restart':
      return {
        times: { ...everyDay, minute: '55', hour: '3' },
        onlyWhenOnline: true,
        tasks: [
          command(t('template.warn_five')),
          command(t('template.warn_last'), 240),
          { ...task, action: 'power', payload: 'restart', time_offset: 60 },
        ],
      }
    case 'backup':
      return {
        times: { ...everyDay, minute: '0', hour: '*/6' },
        onlyWhenOnline: false,
        tasks: [{ ...task, action: 'backup', keep_backups: kept }],
      }
    case 'announce':
      return {
        times: { ...everyDay, minute: '0', hour: '*' },
        onlyWhenOnline: true,
        tasks: [command(t('template.message'))],
      }
  }
}

const neededActions: Record<TemplateName, Action[]> = {
  restart: ['command', 'power'],
  backup: ['backup'],
  announce: ['command'],
}

/** Returns the templates whose tasks the user may create. */
export function useAllowedTemplates(): TemplateName[] {
  const { can } = useServer()
  const actions = useAllowedActions()
  const mayRestart = useAllowedSignals().includes('restart')
  if (!can('schedule.update')) return []
  return templateNames.filter(
    (name) =>
      neededActions[name].every((action) => actions.includes(action)) && (name !== 'restart' || mayRestart),
  )
}

/** Reads the name of a template from an address. */
export const readTemplateName = (value: unknown): TemplateName | undefined =>
  templateNames.find((name) => name === value)
