import { Cron } from 'croner'
import { type Message, QstashError } from './message.ts'

/** A message that is delivered at each time of a cron expression. */
export type Schedule = { scheduleId: string; cron: string; message: Message }

export type Schedules = {
  /** Creates a schedule, or replaces the one with this id. Throws a `QstashError` for an invalid expression. */
  put: (scheduleId: string, cron: string, message: Message) => Schedule
  /** Finds a schedule. Throws a `QstashError` when there is none with this id. */
  find: (scheduleId: string) => Schedule
  list: () => Schedule[]
  remove: (scheduleId: string) => void
}

type Context = {
  /** Milliseconds by the clock of the queue. */
  clock: () => number
  after: (seconds: number, work: () => void) => void
  accept: (message: Message) => void
}

/** Creates the schedules of a queue, which are kept as long as the process runs. */
export function openSchedules({ clock, after, accept }: Context): Schedules {
  const schedules = new Map<string, Schedule>()
  const scheduleNext = (schedule: Schedule) => {
    const next = new Cron(schedule.cron).nextRun(new Date(clock()))
    if (!next) return
    after((next.getTime() - clock()) / 1000, () => {
      // The schedule was removed or replaced meanwhile.
      if (schedules.get(schedule.scheduleId) !== schedule) return
      accept({ ...schedule.message, id: `msg_${crypto.randomUUID()}`, createdAt: clock() })
      scheduleNext(schedule)
    })
  }
  const find = (scheduleId: string) => {
    const schedule = schedules.get(scheduleId)
    if (!schedule) throw new QstashError(404, `schedule ${scheduleId} not found`)
    return schedule
  }
  return {
    find,
    list: () => [...schedules.values()],
    put: (scheduleId, cron, message) => {
      if (!isCron(cron)) throw new QstashError(400, `invalid cron: ${cron}`)
      const schedule = { scheduleId, cron, message: { ...message, scheduleId } }
      schedules.set(scheduleId, schedule)
      scheduleNext(schedule)
      return schedule
    },
    remove: (scheduleId) => void schedules.delete(find(scheduleId).scheduleId),
  }
}

function isCron(text: string): boolean {
  try {
    return new Cron(text, { mode: '5-part', paused: true }).nextRun() !== null
  } catch {
    return false
  }
}
