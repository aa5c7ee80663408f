import { useTranslation } from '../../app/use-translation.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { classNames } from '../../components/class-names.ts'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { can } from '../levels.ts'
import type { EggDifference } from '../resources.ts'
import { compareLines, type DifferenceLine } from '../../components/line-difference.ts'

type Field = EggDifference['fields'][number]

/** Shows what an import would change: fields, variables, and the servers that get it. */
export function EggDifferenceView({ difference }: { difference: EggDifference }) {
  const { t } = useTranslation('admin')
  return (
    <div className="flex flex-col gap-4">
      {difference.egg && <AffectedServers egg={difference.egg.id} servers={difference.servers} />}
      {difference.fields.map((field) => (
        <FieldDifference key={field.field} title={t(`field.${field.field}`)} field={field} />
      ))}
      {difference.variables.map(({ env_variable: name, state, fields }) => (
        <section
          key={name}
          aria-label={name}
          className="flex flex-col gap-2 rounded-control border border-line p-3"
        >
          <h4 className="flex flex-wrap items-center gap-2 text-sm font-medium">
            <code className="wrap-anywhere">{name}</code>
            <Badge tone={variableTones[state]}>{t(`eggs.variable_${state}`)}</Badge>
          </h4>
          {fields.filter(hasValue).map((field) => (
            <FieldDifference key={field.field} title={t(`field.${field.field}`)} field={field} />
          ))}
        </section>
      ))}
    </div>
  )
}

const variableTones = { added: 'good', changed: 'info', removed: 'bad' } satisfies Record<string, Tone>

const isEmpty = (value: unknown) => value === null || value === '' || value === false
/** Leaves out what a variable that is added or removed does not have. */
const hasValue = ({ before, after }: Field) => !(isEmpty(before) && isEmpty(after))

function AffectedServers({ egg, servers }: { egg: number; servers: EggDifference['servers'] }) {
  const { t } = useTranslation('admin')
  if (servers.total === 0) return <p className="text-sm text-muted">{t('eggs.no_servers')}</p>
  return (
    <div className="text-sm">
      <p className="font-medium">{t('eggs.affected', { total: servers.total })}</p>
      <p className="text-muted">{t('eggs.affected_text')}</p>
      {can('servers', 'read') && (
        <ul aria-label={t('nav.servers')} className="mt-1 flex flex-wrap gap-x-3 gap-y-1">
          {servers.first.map(({ id, name }) => (
            <li key={id}>
              <AdminLink to={`servers/${id}`} className={linkStyle}>
                {name}
              </AdminLink>
            </li>
          ))}
          {servers.total > servers.first.length && (
            <li>
              <AdminLink to="servers" search={{ egg_id: egg }} className={linkStyle}>
                {t('eggs.all_servers')}
              </AdminLink>
            </li>
          )}
        </ul>
      )}
    </div>
  )
}

/** Writes a value as lines: images by their labels, lists by their items, other objects as JSON. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(String).join('\n')
  if (typeof value !== 'object') return String(value)
  const entries = Object.entries(value)
  if (entries.length > 0 && entries.every(([, item]) => typeof item === 'string'))
    return entries.map(([name, item]) => (name === item ? name : `${name} | ${item}`)).join('\n')
  return JSON.stringify(value, null, 2)
}

const lineStyles = {
  same: 'text-muted',
  removed: 'bg-bad-soft text-bad',
  added: 'bg-good-soft text-good',
  skipped: 'text-muted italic',
}
const signs = { same: ' ', removed: '−', added: '+', skipped: '⋯' }

const FieldDifference = ({ title, field }: { title: string; field: Field }) => (
  <div className="min-w-0">
    <p className="mb-1 text-xs font-medium text-muted">{title}</p>
    <ol
      aria-label={title}
      className="overflow-hidden rounded-control border border-line font-mono text-xs leading-5"
    >
      {compareLines(textOf(field.before), textOf(field.after)).map((line, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- lines have no other identity
        <DifferenceRow key={at} line={line} />
      ))}
    </ol>
  </div>
)

function DifferenceRow({ line }: { line: DifferenceLine }) {
  const { t } = useTranslation('admin')
  return (
    <li className={classNames('grid grid-cols-[1.5rem_minmax(0,1fr)] px-1', lineStyles[line.kind])}>
      <span aria-hidden className="text-center select-none">
        {signs[line.kind]}
      </span>
      <span className="wrap-anywhere whitespace-pre-wrap">
        {line.kind === 'skipped' ? (
          t('eggs.lines_skipped', { lines: line.lines })
        ) : (
          <>
            {line.kind !== 'same' && <span className="sr-only">{t(`eggs.line_${line.kind}`)} </span>}
            {line.text || ' '}
          </>
        )}
      </span>
    </li>
  )
}
