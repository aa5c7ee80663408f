import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { drawingNames } from '../../games/game-icon.tsx'
import { currentOf } from '../form/current-version.ts'
import { FormSection, LongTextInput, SelectInput, TextInput, ToggleInput, wide } from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { Egg } from '../resources.ts'

const jsonOf = (value: unknown) => JSON.stringify(value ?? {}, null, 2)
const listText = (lines: readonly string[] | null) => (lines ?? []).join('\n')
const linesOf = (value: unknown) =>
  String(value)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

const valuesOf = (egg: Egg): FormValues => ({
  name: egg.name,
  author: egg.author,
  description: egg.description ?? '',
  icon: egg.icon ?? '',
  docker_images: Object.entries(egg.docker_images)
    .map(([name, image]) => `${name} | ${image}`)
    .join('\n'),
  startup: egg.startup,
  config_stop: egg.config.stop ?? '',
  config_startup: jsonOf(egg.config.startup),
  config_files: jsonOf(egg.config.files),
  features: listText(egg.features),
  file_denylist: listText(egg.config.file_denylist),
  command_snippets: egg.command_snippets.map(({ name, command }) => `${name} | ${command}`).join('\n'),
  update_url: egg.update_url ?? '',
  script_container: egg.script.container,
  script_entry: egg.script.entry,
  script_install: egg.script.install ?? '',
  script_is_privileged: egg.script.privileged,
  force_outgoing_ip: egg.force_outgoing_ip,
})

/** Reads `Name | image` lines; a line without a name has that of its image. */
const imagesOf = (value: unknown) =>
  Object.fromEntries(
    linesOf(value).map((line) => {
      const at = line.lastIndexOf('|')
      const image = line.slice(at + 1).trim()
      return [at < 0 ? image : line.slice(0, at).trim(), image]
    }),
  )

/** Reads `Name | command` lines; a line without a name has that of its command. */
const snippetsOf = (value: unknown) =>
  linesOf(value).map((line) => {
    const at = line.indexOf('|')
    const command = line.slice(at + 1).trim()
    return { name: at < 0 ? command : line.slice(0, at).trim(), command }
  })

function parsed(value: unknown): unknown {
  const text = String(value).trim()
  if (text === '' || text === '{}' || text === '[]') return null
  try {
    return JSON.parse(text)
  } catch {
    // The API says that it is no object.
    return text
  }
}

/** Changes what an egg says about its servers. */
export function EggForm({ path, egg }: { path: string; egg: Egg }) {
  const { t } = useTranslation('admin')
  return (
    <ResourceForm
      initial={valuesOf(egg)}
      fetchCurrent={currentOf(path, valuesOf)}
      subject={{ type: 'egg', id: egg.id }}
      isReadOnly={!can('eggs', 'write')}
      save={(values, version) =>
        adminSend(
          'PATCH',
          path,
          {
            ...values,
            icon: values.icon === '' ? null : values.icon,
            docker_images: imagesOf(values.docker_images),
            config_startup: parsed(values.config_startup),
            config_files: parsed(values.config_files),
            features: linesOf(values.features),
            file_denylist: linesOf(values.file_denylist),
            command_snippets: snippetsOf(values.command_snippets),
          },
          version,
        )
      }
    >
      <FormSection title={t('eggs.identity')}>
        <TextInput name="name" isRequired />
        <TextInput name="author" />
        <SelectInput
          name="icon"
          choices={[
            ['', t('eggs.icon.guessed')],
            ...drawingNames.map((drawing) => [drawing, t(`eggs.icon.${drawing}`)] as const),
          ]}
        />
        <LongTextInput name="description" rows={2} className={wide} />
        <TextInput name="update_url" type="url" className={wide} />
      </FormSection>
      <FormSection title={t('eggs.running')}>
        <LongTextInput name="docker_images" isMono className={wide} />
        <LongTextInput name="startup" isMono rows={2} className={wide} />
        <TextInput name="config_stop" isMono />
        <ToggleInput name="force_outgoing_ip" />
        <LongTextInput name="config_startup" isMono rows={4} />
        <LongTextInput name="config_files" isMono rows={4} />
        <LongTextInput name="features" isMono rows={2} />
        <LongTextInput name="file_denylist" isMono rows={2} />
        <LongTextInput name="command_snippets" isMono rows={3} className={wide} />
      </FormSection>
      <FormSection title={t('eggs.installing')}>
        <TextInput name="script_container" isMono />
        <TextInput name="script_entry" isMono />
        <ToggleInput name="script_is_privileged" className={wide} />
        <LongTextInput name="script_install" isMono rows={14} className={wide} />
      </FormSection>
    </ResourceForm>
  )
}
