import i18next from 'i18next'
import { useQuery } from '@tanstack/react-query'
import { useLoadedTexts, useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { type ApiDocument, apiDocumentQuery, type Schema } from '../../api/openapi.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Loaded } from '../../components/states.tsx'
import { AdminPage, PartTabs } from '../admin-page.tsx'
import { currentOf } from '../form/current-version.ts'
import { FormSection, LongTextInput, SelectInput, TextInput, ToggleInput, wide } from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { PageParams } from '../pages.ts'
import type { Item } from '../resources.ts'
import { numberOf } from '../servers/limit-fields.tsx'
import { AppearancePreview, ColourInput, LogoInput } from './appearance-fields.tsx'
import { linksOf, linkLines } from './footer-link-lines.ts'
import { SettingTest } from './setting-test.tsx'

type Settings = Record<string, Record<string, unknown>>
type SettingChange = {
  key: string
  changed_at: string
  changed_by: { id: number; username: string } | null
}
type SettingsAnswer = Item<Settings> & { meta: { defaults: Settings; changes: SettingChange[] } }

/** A setting: how it is edited, its present value, and what it means. */
type Setting = {
  name: string
  kind: 'switch' | 'choice' | 'number' | 'text' | 'secret' | 'json' | 'colour' | 'logo' | 'links'
  choices: string[]
  value: unknown
  description: string
  defaultValue: unknown
  change: SettingChange | undefined
}

/** Settings that the type alone does not describe. */
const ownKinds: Partial<Record<string, Setting['kind']>> = {
  'appearance.accent': 'colour',
  'appearance.logo_light': 'logo',
  'appearance.logo_dark': 'logo',
  'appearance.footer_links': 'links',
}

const settingsPath = '/api/application/settings'

/** Lists the settings of a group, as the API describes them. */
function settingsOf(document: ApiDocument, group: string, { attributes, meta }: SettingsAnswer): Setting[] {
  const body = document.paths[settingsPath]?.patch?.requestBody?.content['application/json']?.schema ?? {}
  const members = membersOf(document, membersOf(document, body)[group] ?? {})
  return Object.entries(attributes[group] ?? {}).map(([name, value]) => {
    const schema = members[name] ?? {}
    const [first = schema] = schema.anyOf ?? []
    const choices = (first.enum ?? []).map(String)
    return {
      name,
      kind: ownKinds[`${group}.${name}`] ?? kindOf(first, value),
      choices,
      value,
      description: schema.description ?? name,
      defaultValue: meta.defaults[group]?.[name],
      change: meta.changes.find(({ key }) => key === `${group}.${name}`),
    }
  })
}

function membersOf(document: ApiDocument, schema: Schema): Record<string, Schema> {
  if (schema.$ref)
    return membersOf(document, document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  if (schema.properties) return schema.properties
  const [first] = (schema.anyOf ?? schema.allOf ?? []).map((each) => membersOf(document, each))
  return first ?? {}
}

function kindOf({ type, enum: choices }: Schema, value: unknown): Setting['kind'] {
  if (type === 'boolean') return 'switch'
  if (choices) return 'choice'
  if (type === 'integer') return 'number'
  if (type === 'object') return 'json'
  // The API shows of a secret only whether it is set.
  return typeof value === 'boolean' ? 'secret' : 'text'
}

function shownValue({ kind, value }: Setting): string | boolean {
  if (kind === 'switch') return value === true
  if (kind === 'secret') return ''
  if (kind === 'json') return JSON.stringify(value, null, 2)
  if (kind === 'links') return linkLines(value)
  return value === null || value === undefined ? '' : String(value)
}

/** Returns what the API takes; undefined for a secret that was not typed, which stays. */
function sentValue({ kind }: Setting, value: string | boolean | undefined): unknown {
  if (kind === 'switch') return value
  if (kind === 'number') return numberOf(value)
  if (kind === 'secret') return value === '' ? undefined : value
  if (kind === 'json') return parseJson(String(value))
  if (kind === 'links') return linksOf(String(value))
  return value === '' ? null : value
}

function parseJson(text: string): unknown {
  try {
    return text.trim() === '' ? null : JSON.parse(text)
  } catch {
    // The API says what is wrong with it.
    return text
  }
}

/** The settings of the panel, by group. */
export function SettingsPage({ params: { id = '' } }: { params: PageParams }) {
  const { t } = useTranslation('admin')
  const hasMeanings = useLoadedTexts('meanings')
  const settings = useQuery(adminQuery<SettingsAnswer>('/settings'))
  const api = useQuery(apiDocumentQuery)
  const groups = Object.keys(settings.data?.attributes ?? {})
  const group = groups.includes(id) ? id : (groups[0] ?? '')
  return (
    <AdminPage
      title={t('nav.settings')}
      tabs={
        <PartTabs
          label={t('settings.groups')}
          base="settings"
          part={group}
          parts={groups.map((name) => [name, t(`settings.group_${name}`, { defaultValue: name })])}
        />
      }
    >
      <Loaded query={settings}>
        {(answer) => (
          <Loaded query={api}>
            {(document) =>
              hasMeanings && (
                <GroupForm key={group} group={group} settings={settingsOf(document, group, answer)} />
              )
            }
          </Loaded>
        )}
      </Loaded>
      {can('settings', 'write') && <SettingTest key={group} group={group} />}
    </AdminPage>
  )
}

function GroupForm({ group, settings }: { group: string; settings: Setting[] }) {
  const { t } = useTranslation('admin')
  const fieldOf = ({ name }: Setting) => `${group}.${name}`
  const valuesOf = (all: Settings): FormValues =>
    Object.fromEntries(
      settings.map((setting) => [
        fieldOf(setting),
        shownValue({ ...setting, value: all[group]?.[setting.name] }),
      ]),
    )
  const initial: FormValues = Object.fromEntries(
    settings.map((setting) => [fieldOf(setting), shownValue(setting)]),
  )
  const save = (values: FormValues, version: string | null) => {
    const changes = settings
      .map((setting) => [setting.name, sentValue(setting, values[fieldOf(setting)])] as const)
      .filter(([, value]) => value !== undefined)
    return adminSend('PATCH', '/settings', { [group]: Object.fromEntries(changes) }, version)
  }
  return (
    <ResourceForm
      initial={initial}
      fetchCurrent={currentOf('/settings', valuesOf)}
      save={save}
      isReadOnly={!can('settings', 'write')}
    >
      <FormSection
        title={t(`settings.group_${group}`, { defaultValue: group })}
        text={t('settings.empty_text')}
      >
        {settings.map((setting) => (
          <SettingField key={setting.name} name={fieldOf(setting)} setting={setting} />
        ))}
      </FormSection>
      {group === 'appearance' && <AppearancePreview />}
    </ResourceForm>
  )
}

function SettingField({ name, setting }: { name: string; setting: Setting }) {
  const { t } = useTranslation('admin')
  const { kind, choices, value } = setting
  const description = i18next.exists(`meanings:${name}`) ? t(`meanings:${name}`) : setting.description
  const facts = <SettingFacts name={name} setting={setting} />
  const shared = { name, label: description, hint: facts, className: wide }
  if (kind === 'switch') return <ToggleInput {...shared} />
  if (kind === 'choice')
    return <SelectInput {...shared} choices={choices.map((choice) => [choice, choice])} />
  if (kind === 'json' || kind === 'links') return <LongTextInput {...shared} isMono rows={4} />
  if (kind === 'colour') return <ColourInput {...shared} />
  if (kind === 'logo') return <LogoInput {...shared} />
  if (kind === 'secret')
    return (
      <TextInput
        {...shared}
        type="password"
        hint={
          <>
            {t(value === true ? 'settings.secret_set' : 'settings.secret_unset')} · {facts}
          </>
        }
      />
    )
  return <TextInput {...shared} type={kind === 'number' ? 'number' : 'text'} />
}

/** The name of a setting, its default, and who changed it last. */
function SettingFacts({ name, setting: { kind, defaultValue, change } }: { name: string; setting: Setting }) {
  const { t } = useTranslation('admin')
  const hasDefault = !['secret', 'json', 'links'].includes(kind) && defaultValue !== null
  const written =
    typeof defaultValue === 'boolean' ? t(defaultValue ? 'settings.on' : 'settings.off') : defaultValue
  return (
    <span className="wrap-anywhere">
      {kind === 'links' && <>{t('settings.links_format')} · </>}
      <code className="text-xs">{name}</code>
      {hasDefault && <> · {t('settings.default', { value: String(written) })}</>}
      {change && (
        <>
          {' · '}
          {t('settings.changed_by', { name: change.changed_by?.username ?? t('settings.not_a_user') })}{' '}
          <RelativeTime at={change.changed_at} />
        </>
      )}
    </span>
  )
}
