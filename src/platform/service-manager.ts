import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { causeOf, log, warnOncePerMinute } from '../log.ts'

/** What systemd is told about this process: docs/systemd.md#what-systemd-knows. */
export type ServiceManager = {
  /** It serves. From then on `isAlive` is asked twice in each period of the watchdog, which hears only of `true`. */
  ready: (isAlive: () => Promise<boolean>) => Promise<void>
  /** Tells that its processes are replaced until `work` has ended. */
  whileReloading: (work: () => Promise<void>) => Promise<void>
  stopping: () => void
}

/** Milliseconds for one message. */
const sendTimeoutMs = 10_000

/**
 * Takes the address of systemd out of the environment, so that no child process can use it; null where it has not
 * started this one as a service that reports. Node has no datagram sockets, so the program `systemd-notify` sends.
 */
export function findServiceManager(environment: NodeJS.ProcessEnv): ServiceManager | null {
  const { NOTIFY_SOCKET: address, WATCHDOG_USEC: period, PATH } = environment
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name]
  if (!address) return null
  const send = async (...assignments: string[]) => {
    try {
      const env = { NOTIFY_SOCKET: address, ...(PATH === undefined ? {} : { PATH }) }
      await promisify(execFile)('systemd-notify', assignments, { env, timeout: sendTimeoutMs })
    } catch (error) {
      warnOncePerMinute('systemd could not be told how this service is: systemd-notify failed.', {
        cause: causeOf(error),
      })
    }
  }
  const watchdogMs = Number(period ?? 0) / 1000
  return {
    ready: async (isAlive) => {
      await send('READY=1', 'STATUS=Serves')
      if (watchdogMs > 0) watch(watchdogMs / 2, isAlive, () => send('WATCHDOG=1'))
    },
    whileReloading: async (work) => {
      await send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`)
      await work()
      await send('READY=1')
    },
    stopping: () => void send('STOPPING=1'),
  }
}

/** Pats the watchdog now and every `intervalMs`, while this event loop turns and `isAlive` says so. */
function watch(intervalMs: number, isAlive: () => Promise<boolean>, pat: () => Promise<void>): void {
  const check = async () => {
    if (await isAlive()) return pat()
    log(
      'error',
      'A process does not answer: the watchdog of systemd will end this service, and start it again.',
    )
  }
  void check()
  setInterval(() => void check(), intervalMs).unref()
}
