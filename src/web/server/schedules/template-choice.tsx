import { useTranslation } from '../../app/use-translation.ts'
import type { TaskInput } from '../../api/schedules.ts'
import { SelectField } from '../../components/field.tsx'
import { TaskText } from './task-text.tsx'
import { type TemplateName, useAllowedTemplates, useTemplates } from './templates.ts'

/** Asks what a new schedule starts from, and shows the tasks that come with it. */
export function TemplateChoice({
  value,
  onChange,
}: {
  value: TemplateName | null
  onChange: (name: TemplateName | null) => void
}) {
  const { t } = useTranslation('schedules')
  const allowed = useAllowedTemplates()
  const templateOf = useTemplates()
  if (allowed.length === 0) return null
  const hint = {
    restart: t('template.restart_text'),
    backup: t('template.backup_text', { count: templateOf('backup').tasks[0]?.keep_backups ?? 0 }),
    announce: t('template.announce_text'),
  }
  return (
    <div className="flex flex-col gap-3">
      <SelectField
        label={t('template.label')}
        hint={value && hint[value]}
        value={value ?? ''}
        onChange={({ target }) => onChange(allowed.find((name) => name === target.value) ?? null)}
      >
        <option value="">{t('template.none')}</option>
        {allowed.map((name) => (
          <option key={name} value={name}>
            {t(`template.${name}`)}
          </option>
        ))}
      </SelectField>
      {value && <TemplateTasks tasks={templateOf(value).tasks} />}
    </div>
  )
}

function TemplateTasks({ tasks }: { tasks: TaskInput[] }) {
  const { t } = useTranslation('schedules')
  return (
    <ol
      aria-label={t('template.tasks')}
      className="flex flex-col gap-2 rounded-control border border-line bg-canvas px-3 py-2.5 text-sm"
    >
      {tasks.map((task, position) => (
        <li key={position} className="flex flex-col gap-x-4 sm:flex-row sm:items-start sm:justify-between">
          <TaskText {...task} />
          {task.time_offset > 0 && (
            <span className="shrink-0 ps-6 text-muted sm:ps-0">
              {t('task_delay', { count: task.time_offset })}
            </span>
          )}
        </li>
      ))}
    </ol>
  )
}
