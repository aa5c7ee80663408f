import { useTranslation } from '../../app/use-translation.ts'
import { AnnouncementCard } from '../../announcements/announcement-card.tsx'
import { locationChoices, nodeChoices } from '../form/choice-sources.ts'
import { LongTextInput, SelectInput, TextInput } from '../form/fields.tsx'
import { idsOf, idsText, PickManyInput } from '../form/pick-many-input.tsx'
import { type FormValues, useForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import { type Announcement, relatedRows } from '../resources.ts'

export const announcementLevels = ['info', 'warning', 'maintenance'] as const

/** Writes an instant as the field of a date and time does: to the minute, in the zone of the browser. */
function localTime(instant: string | null | undefined): string {
  if (!instant) return ''
  const at = new Date(instant)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Returns the values of the form of an announcement, or of a new one. */
export const announcementValues = (announcement: Announcement | null): FormValues => ({
  title: announcement?.title ?? '',
  body: announcement?.body ?? '',
  level: announcement?.level ?? 'info',
  audience: announcement?.audience ?? 'everyone',
  ...(can('locations', 'read')
    ? { locations: idsText(relatedRows(announcement?.relationships?.locations)) }
    : {}),
  ...(can('nodes', 'read') ? { nodes: idsText(relatedRows(announcement?.relationships?.nodes)) } : {}),
  starts_at: localTime(announcement?.starts_at),
  ends_at: localTime(announcement?.ends_at),
})

/** Returns the body that saves the values. Times that show as they were are kept to the second. */
export function announcementBody(values: FormValues, before: Announcement | null) {
  const { locations, nodes, starts_at: start, ends_at: end, ...others } = values
  const time = (value: string | boolean | undefined, kept: string | null | undefined) => {
    if (value === localTime(kept)) return undefined
    const at = new Date(String(value))
    return value === '' ? null : Number.isNaN(at.getTime()) ? String(value) : at.toISOString()
  }
  return {
    ...others,
    ...(locations === undefined ? {} : { locations: idsOf(locations) }),
    ...(nodes === undefined ? {} : { nodes: idsOf(nodes) }),
    starts_at: time(start, before?.starts_at),
    ends_at: time(end, before?.ends_at),
  }
}

/** The fields of an announcement, and how users see it. */
export function AnnouncementFields() {
  const { t } = useTranslation('admin')
  const { values } = useForm()
  const canChoosePlaces = can('locations', 'read') || can('nodes', 'read')
  const isForServers = values.audience === 'servers'
  const audiences = canChoosePlaces || isForServers ? (['everyone', 'servers'] as const) : ['everyone']
  return (
    <>
      <TextInput name="title" isRequired />
      <LongTextInput
        name="body"
        label={t('announcements.body')}
        hint={t('announcements.body_hint')}
        rows={5}
      />
      <SelectInput
        name="level"
        label={t('announcements.level')}
        choices={announcementLevels.map((level) => [level, t(`announcements.level_${level}`)])}
      />
      <SelectInput
        name="audience"
        label={t('announcements.audience')}
        choices={audiences.map((audience) => [audience, t(`announcements.audience_${audience}`)])}
      />
      {isForServers && can('locations', 'read') && (
        <PickManyInput name="locations" label={t('nav.locations')} source={locationChoices} />
      )}
      {isForServers && can('nodes', 'read') && (
        <PickManyInput name="nodes" label={t('nav.nodes')} source={nodeChoices} />
      )}
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextInput
          name="starts_at"
          label={t('announcements.starts')}
          hint={t('announcements.starts_hint')}
          type="datetime-local"
        />
        <TextInput
          name="ends_at"
          label={t('announcements.ends')}
          hint={t('announcements.ends_hint')}
          type="datetime-local"
        />
      </div>
      <Preview />
    </>
  )
}

function Preview() {
  const { t } = useTranslation('admin')
  const { values } = useForm()
  const level = announcementLevels.find((name) => name === values.level) ?? 'info'
  return (
    <section aria-label={t('announcements.preview')} className="flex flex-col gap-1.5">
      <p className="text-sm font-medium">{t('announcements.preview')}</p>
      <AnnouncementCard
        level={level}
        title={String(values.title) || t('announcements.no_title')}
        body={String(values.body)}
      />
    </section>
  )
}
