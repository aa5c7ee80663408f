import { isStorable, limitProperties } from '../../domain/activity/properties.ts'
import type { ActivitySubject } from '../../db/tables/activity-subjects.ts'
import type { Activity } from '../../db/tables/activity.ts'
import { canonicalAddress } from '../../ip-addresses.ts'
import type { Move } from './move.ts'
import type { SourceRow } from './spool.ts'
import { dateOf, numberOrNull, textOf, textOrNull } from './values.ts'

/** An entry of this panel's log that moves, with its further subjects as `type/id`. */
export type MovedEntry = Pick<
  Activity,
  | 'id'
  | 'timestamp'
  | 'event'
  | 'ip'
  | 'source'
  | 'actorId'
  | 'apiKeyId'
  | 'serverId'
  | 'userId'
  | 'description'
  | 'properties'
> & { subjects: string[] }

/** A subject as the old panel names it. */
type Subject = { type: string; id: number }
/** What the logs of the old panels have alike. */
type OldEntry = {
  table: string
  id: number
  event: string
  ip: string
  description: string | null
  actor: Subject | null
  apiKeyId: number | null
  /** Text of a JSON value. */
  properties: string
  timestamp: Date | null
  subjects: Subject[]
}

/** Tables of the old panel by type of the subjects that this panel knows. */
const tablesOfSubjects: Record<ActivitySubject['subjectType'], string> = {
  allocation: 'allocations',
  announcement: 'announcements',
  api_key: 'api_keys',
  backup: 'backups',
  database: 'databases',
  database_host: 'database_hosts',
  egg: 'eggs',
  egg_variable: 'egg_variables',
  location: 'locations',
  mount: 'mounts',
  nest: 'nests',
  node: 'nodes',
  role: 'roles',
  schedule: 'schedules',
  server: 'servers',
  ssh_key: 'user_ssh_keys',
  task: 'tasks',
  user: 'users',
}

/** Returns the entries of rows of `activity_logs`; `subjects` are the rows that name theirs. */
export function mapActivity(rows: SourceRow[], subjects: SourceRow[], move: Move): MovedEntry[] {
  const byEntry = Map.groupBy(subjects, (row) => Number(row.activity_log_id))
  return rows.flatMap((row) => {
    const id = Number(row.id)
    const named = (byEntry.get(id) ?? []).toSorted((one, other) => Number(one.id) - Number(other.id))
    const actorId = numberOrNull(row, 'actor_id')
    return (
      mapEntry(
        {
          table: 'activity_logs',
          id,
          event: textOf(row, 'event'),
          ip: textOf(row, 'ip'),
          description: textOrNull(row, 'description'),
          actor: actorId === null ? null : { type: typeOf(textOf(row, 'actor_type')), id: actorId },
          apiKeyId: numberOrNull(row, 'api_key_id'),
          properties: textOf(row, 'properties'),
          timestamp: dateOf(row, 'timestamp'),
          subjects: named.map((subject) => ({
            type: typeOf(textOf(subject, 'subject_type')),
            id: Number(subject.subject_id),
          })),
        },
        move,
      ) ?? []
    )
  })
}

/** Returns the entries of rows of `audit_logs`, which Pterodactyl 1.7 had. */
export const mapAudit = (rows: SourceRow[], move: Move): MovedEntry[] =>
  rows.flatMap((row) => {
    const [userId, serverId] = [numberOrNull(row, 'user_id'), numberOrNull(row, 'server_id')]
    const device = parseJson(textOf(row, 'device')) as { ip_address?: unknown } | null | undefined
    return (
      mapEntry(
        {
          table: 'audit_logs',
          id: Number(row.id),
          event: [textOf(row, 'action'), textOf(row, 'subaction')].filter(Boolean).join('.'),
          ip: typeof device?.ip_address === 'string' ? device.ip_address : '',
          description: null,
          actor: userId === null ? null : { type: 'user', id: userId },
          apiKeyId: null,
          properties: textOf(row, 'metadata'),
          timestamp: dateOf(row, 'created_at'),
          subjects: serverId === null ? [] : [{ type: 'server', id: serverId }],
        },
        move,
      ) ?? []
    )
  })

/** Entries of each log get ids of their own below zero, which those of this panel never have. */
const firstIds: Record<string, number> = { activity_logs: -1e14, audit_logs: -2e14 }

/** Returns the id here of an entry of a log of the old panel. */
export const entryIdOf = (table: string, id: number): number => (firstIds[table] ?? 0) + id

/** `user` and `App\Models\User` are the same. */
function typeOf(name: string): string {
  const [model = ''] = name.split('\\').slice(-1)
  const type = model.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
  return type === 'user_sshkey' || type === 'user_ssh_key' ? 'ssh_key' : type
}

const isMoved = ({ moved }: Move, { type, id }: Subject): boolean =>
  moved.get(tablesOfSubjects[type as ActivitySubject['subjectType']])?.has(id) ?? false

/** Ids of what did not move are left out: a later account or server of this panel may have them. */
function mapEntry(entry: OldEntry, move: Move): MovedEntry | null {
  const { table, id, timestamp, subjects, apiKeyId } = entry
  const event = cleanText(entry.event)
  const main = subjects.filter(({ type }) => type === 'server' || type === 'user')
  const parent = main.find(({ type }) => type === 'server') ?? main[0]
  if (!timestamp || event === '') {
    move.report.leaveOut(table, id, 'has no time or no event')
    return null
  }
  if (parent && !isMoved(move, parent)) {
    move.report.leaveOut(table, id, `is about a ${parent.type} that is not moved`)
    return null
  }
  const change = (reason: string) => move.report.change(table, id, reason)
  if (move.activity && timestamp < move.activity.keptSince)
    change('is older than this panel keeps: raise activity.retention_days before it starts, or it is deleted')
  const further = subjects.filter((subject) => subject !== parent)
  const kept = further.filter((subject) => isMoved(move, subject))
  if (kept.length < further.length) change('loses subjects that are not moved')
  return {
    id: entryIdOf(table, id),
    timestamp,
    event,
    ip: addressOf(entry, change),
    source: sourceOf(entry, event),
    actorId: actorOf(entry, move, change),
    apiKeyId: apiKeyId !== null && isMoved(move, { type: 'api_key', id: apiKeyId }) ? apiKeyId : null,
    serverId: parent?.type === 'server' ? parent.id : null,
    userId: parent?.type === 'user' ? parent.id : null,
    description: entry.description && cleanText(entry.description),
    properties: propertiesOf(entry, change),
    subjects: [...new Set(kept.map((subject) => `${subject.type}/${subject.id}`))].toSorted(),
  }
}

type Change = (reason: string) => void

function addressOf({ ip }: OldEntry, change: Change): string | null {
  const address = canonicalAddress(ip)
  if (address === null && ip !== '') change('has an address that is none, and loses it')
  return address
}

function actorOf({ actor }: OldEntry, move: Move, change: Change): number | null {
  if (actor?.type === 'user' && isMoved(move, actor)) return actor.id
  if (actor) change('loses its actor, who is not moved: it is shown as of the system')
  return null
}

function sourceOf({ actor, apiKeyId }: OldEntry, event: string): Activity['source'] {
  if (/^\w+:sftp\./.test(event)) return 'sftp'
  if (apiKeyId !== null) return 'api'
  return actor?.type === 'user' || event.startsWith('auth:') ? 'web' : 'system'
}

function propertiesOf({ properties }: OldEntry, change: Change): Record<string, unknown> {
  const value = properties === '' ? null : parseJson(properties)
  if (typeof value !== 'object' || !isStorable(value)) {
    change('has properties that are damaged, and loses them')
    return {}
  }
  const limited = limitProperties(value as Record<string, unknown> | null)
  if (limited.truncated === true) change('has properties of more than 8 KiB, and loses them')
  return limited
}

/** Undefined for what is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** PostgreSQL stores no NUL. */
const cleanText = (text: string): string => text.replaceAll('\0', '').toWellFormed()
