import { backups, databases, schedules, subusers, tasks } from '../../db/schema.ts'
import { databasePasswordLocation } from '../../domain/databases/passwords.ts'
import { allPermissions, type Permission } from '../../domain/permissions.ts'
import { type CronExpression, nextRun, requireValidCron } from '../../domain/schedules/cron.ts'
import { ApiError } from '../../errors.ts'
import { noteHashids } from './database-hashids.ts'
import { findFirst, hasParent, type Move, type MovedRow, readSecret, type Step } from './move.ts'
import type { SourceRow } from './spool.ts'
import { dateOf, isTrue, listOf, numberOf, textOf, textOrNull, timesOf } from './values.ts'

const permissions = new Set<string>(allPermissions)

function mapSubuser(row: SourceRow, move: Move): MovedRow | null {
  if (!hasParent(move, 'subusers', row, 'user_id', 'users')) return null
  if (!hasParent(move, 'subusers', row, 'server_id', 'servers')) return null
  const first = findFirst(move, 'subusers', Number(row.id), [Number(row.server_id), Number(row.user_id)])
  if (first !== null) {
    move.report.leaveOut('subusers', Number(row.id), `is the user and the server of row ${first}`)
    return null
  }
  const granted = listOf(row, 'permissions')
  const known = granted.filter((permission): permission is Permission => permissions.has(permission))
  for (const permission of granted.filter((name) => !permissions.has(name)))
    move.report.change('subusers', Number(row.id), `loses ${permission}, which this panel does not have`)
  const [userId, serverId] = [Number(row.user_id), Number(row.server_id)]
  return { values: { id: Number(row.id), userId, serverId, permissions: known, ...timesOf(row) } }
}

function mapSchedule(row: SourceRow, move: Move): MovedRow | null {
  if (!hasParent(move, 'schedules', row, 'server_id', 'servers')) return null
  const cron: CronExpression = {
    minute: textOf(row, 'cron_minute'),
    hour: textOf(row, 'cron_hour'),
    dayOfMonth: textOf(row, 'cron_day_of_month') || '*',
    month: textOf(row, 'cron_month') || '*',
    dayOfWeek: textOf(row, 'cron_day_of_week') || '*',
    timezone: move.timezone,
  }
  const isValid = canRun(cron, move.now)
  if (!isValid)
    move.report.change('schedules', Number(row.id), 'has times that are not valid: it is switched off')
  const isActive = isValid && isTrue(row, 'is_active')
  return {
    values: {
      id: Number(row.id),
      serverId: Number(row.server_id),
      name: textOf(row, 'name'),
      cronMinute: cron.minute,
      cronHour: cron.hour,
      cronDayOfMonth: cron.dayOfMonth,
      cronMonth: cron.month,
      cronDayOfWeek: cron.dayOfWeek,
      timezone: cron.timezone,
      isActive,
      onlyWhenOnline: isTrue(row, 'only_when_online'),
      lastRunAt: dateOf(row, 'last_run_at'),
      nextRunAt: isActive ? nextRun(cron, move.now) : null,
      ...timesOf(row),
    },
  }
}

function canRun(cron: CronExpression, now: Date): boolean {
  try {
    requireValidCron(cron, now)
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

const maxOffset = 2_147_483_647

function mapTask(row: SourceRow, move: Move): MovedRow | null {
  if (!hasParent(move, 'tasks', row, 'schedule_id', 'schedules')) return null
  const [id, action, offset] = [Number(row.id), textOf(row, 'action'), numberOf(row, 'time_offset')]
  if (!['command', 'power', 'backup'].includes(action)) {
    move.report.leaveOut('tasks', id, `has the action ${action}, which this panel does not have`)
    return null
  }
  if (offset > maxOffset) move.report.change('tasks', id, `its time offset becomes ${maxOffset} seconds`)
  return {
    values: {
      id,
      scheduleId: Number(row.schedule_id),
      sequenceId: sequenceOf(row, move),
      action,
      payload: textOf(row, 'payload'),
      timeOffset: Math.min(maxOffset, offset),
      continueOnFailure: isTrue(row, 'continue_on_failure'),
      ...timesOf(row),
    },
  }
}

/** Tasks with the place of another one in their schedule come after it. */
function sequenceOf(row: SourceRow, move: Move): number {
  const [id, schedule] = [Number(row.id), Number(row.schedule_id)]
  const wanted = Math.max(1, numberOf(row, 'sequence_id', 1))
  let sequence = wanted
  while (findFirst(move, 'tasks', id, [schedule, sequence]) !== null) sequence += 1
  if (sequence !== wanted) move.report.change('tasks', id, 'its place in the schedule becomes a later one')
  return sequence
}

const maxNameLength = 64

/** A database belongs to one server here; the row that was there first keeps it. Returns why a row cannot move. */
function sharedName(row: SourceRow, move: Move): string | null {
  const [id, host] = [Number(row.id), Number(row.database_host_id)]
  const [database, username] = [textOf(row, 'database'), textOf(row, 'username')]
  const other = (label: string, values: (string | number)[]) => {
    const first = findFirst(move, `databases by ${label}`, id, values)
    return first === null ? null : `has the ${label} of row ${first}, which moves`
  }
  return (
    other('host and name', [host, database]) ??
    other('server and name', [Number(row.server_id), database]) ??
    other('host and user', [host, username])
  )
}

function mapDatabase(row: SourceRow, move: Move): MovedRow | null {
  if (!hasParent(move, 'databases', row, 'server_id', 'servers')) return null
  if (!hasParent(move, 'databases', row, 'database_host_id', 'database_hosts')) return null
  const [id, database] = [Number(row.id), textOf(row, 'database')]
  const reason = database.length > maxNameLength ? 'its name is longer than MySQL has' : sharedName(row, move)
  if (reason !== null) {
    move.report.leaveOut('databases', id, reason)
    return null
  }
  const plain = readSecret(move, 'databases', row, 'password')
  if (plain === null) return null
  const key = { databaseHostId: Number(row.database_host_id), username: textOf(row, 'username') }
  return {
    values: {
      id,
      serverId: Number(row.server_id),
      ...key,
      database,
      remote: textOf(row, 'remote') || '%',
      maxConnections: Math.max(0, numberOf(row, 'max_connections')),
      state: 'ready',
      ...timesOf(row),
    },
    secrets: [{ column: 'password', plain, location: databasePasswordLocation(key) }],
  }
}

function mapBackup(row: SourceRow, move: Move): MovedRow | null {
  if (!hasParent(move, 'backups', row, 'server_id', 'servers')) return null
  const id = Number(row.id)
  const disk =
    move.kind === 'pelican' ? move.facts.disks.get(numberOf(row, 'backup_host_id')) : textOf(row, 'disk')
  const reason = dateOf(row, 'deleted_at')
    ? 'was deleted'
    : !dateOf(row, 'completed_at')
      ? 'was not complete'
      : disk !== 'wings' && disk !== 's3'
        ? `is on ${disk ?? 'an unknown disk'}, and not on the node or in an object store`
        : null
  if (reason !== null) {
    move.report.leaveOut('backups', id, reason)
    return null
  }
  return {
    values: {
      id,
      uuid: textOf(row, 'uuid').toLowerCase(),
      serverId: Number(row.server_id),
      name: textOf(row, 'name'),
      ignoredFiles: ignoredFilesOf(row),
      disk,
      isSuccessful: isTrue(row, 'is_successful'),
      isLocked: isTrue(row, 'is_locked'),
      isScheduled: isTrue(row, 'is_scheduled'),
      checksum: textOrNull(row, 'checksum'),
      bytes: numberOf(row, 'bytes'),
      completedAt: dateOf(row, 'completed_at'),
      ...timesOf(row),
    },
  }
}

/** A JSON list, or lines in the oldest rows. */
function ignoredFilesOf(row: SourceRow): string[] {
  const text = textOf(row, 'ignored_files')
  return text.startsWith('[') ? listOf(row, 'ignored_files') : text.split(/\r?\n/).filter(Boolean)
}

/** What belongs to servers, in an order in which each has its parent. */
export const serverPartSteps: Step[] = [
  { source: 'subusers', target: subusers, map: mapSubuser },
  {
    source: 'schedules',
    target: schedules,
    unsettled: ['nextRunAt', 'lastRunAt'],
    map: mapSchedule,
  },
  { source: 'tasks', target: tasks, map: mapTask },
  { source: 'databases', target: databases, map: mapDatabase, after: noteHashids },
  { source: 'backups', target: backups, unique: ['uuid'], map: mapBackup },
]
