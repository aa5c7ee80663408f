import { Cron } from 'croner'
import { type Message, Refusal } from './message.ts'

/** Delivers its message at each time of the cron expression. */
export type Schedule = { scheduleId: string; cron: string; message: Message }

export type Schedules = {
  /** Puts it in place of the one with the same id. Throws a `Refusal` for an expression that is none. */
  put: (scheduleId: string, cron: string, message: Message) => Schedule
  find: (scheduleId: string) => Schedule
  list: () => Schedule[]
  remove: (scheduleId: string) => void
}

type Surroundings = {
  /** Milliseconds by the clock of the queue. */
  clock: () => number
  after: (seconds: number, work: () => void) => void
  accept: (message: Message) => void
}

/** Schedules live as long as the process. */
export function openSchedules({ clock, after, accept }: Surroundings): Schedules {
  const schedules = new Map<string, Schedule>()
  const wait = (schedule: Schedule) => {
    const next = new Cron(schedule.cron).nextRun(new Date(clock()))
    if (!next) return
    after((next.getTime() - clock()) / 1000, () => {
      // Removed or replaced meanwhile.
      if (schedules.get(schedule.scheduleId) !== schedule) return
      accept({ ...schedule.message, id: `msg_${crypto.randomUUID()}`, createdAt: clock() })
      wait(schedule)
    })
  }
  const find = (scheduleId: string) => {
    const schedule = schedules.get(scheduleId)
    if (!schedule) throw new Refusal(404, `schedule ${scheduleId} not found`)
    return schedule
  }
  return {
    find,
    list: () => [...schedules.values()],
    put: (scheduleId, cron, message) => {
      if (!isCron(cron)) throw new Refusal(400, `invalid cron: ${cron}`)
      const schedule = { scheduleId, cron, message: { ...message, scheduleId } }
      schedules.set(scheduleId, schedule)
      wait(schedule)
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
