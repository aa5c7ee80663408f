import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { openConnection, quantile, requestBytes } from './http-client.ts'
import { load, prepareRequests, roundRobin, type Target } from './measure.ts'
import { type RunningPanel, startPanel } from './panel.ts'
import { loginRequest, rows } from './rows.ts'
import type { Size } from './seed.ts'
import { decimal, printHeading } from './table.ts'

/**
 * A hundred logins at once; and reads without logins, with twenty in flight, and beside two programs that only count,
 * p99 in milliseconds.
 */
type LoginCosts = {
  burst: { answers: number; p50: number; p99: number; refused: number }
  quiet: number
  busy: number
  counting: number
  loginsPerSecond: number
}

const burst = 100
const inFlight = 20
const rounds = 6
const readMs = 6000
/** So many that reads do not wait for each other. */
const readers = 4

/** As many programs at the lowest priority as hashes that run at a time: what they cost reads is the scheduler's. */
const counters = 2

/** Measures logins, and what they and programs of their priority do to reads beside them, in turn. */
export async function measureLogins(url: string, size: Size): Promise<LoginCosts> {
  const panel = await startPanel({ url, isMeasured: false })
  try {
    const view = rows.find(({ name }) => name === 'view')
    if (!view) throw new Error('There is no row of the view.')
    const requests = prepareRequests(panel.port, 1000, (n) => view.request(n, size))
    const reads = roundRobin(panel.port, view.status, requests)
    await load(reads, readers, readMs)
    const quiet: number[] = []
    const busy: number[] = []
    const counting: number[] = []
    let perSecond = 0
    for (let round = 0; round < rounds; round += 1) {
      quiet.push(...(await load(reads, readers, readMs)).times)
      const beside = await readBesideLogins(panel, reads, size)
      busy.push(...beside.times)
      perSecond += beside.perSecond / rounds
      counting.push(...(await readBesideCounters(reads)))
    }
    return {
      burst: await signInAtOnce(panel, size),
      quiet: quantile(quiet, 0.99),
      busy: quantile(busy, 0.99),
      counting: quantile(counting, 0.99),
      loginsPerSecond: perSecond,
    }
  } finally {
    await panel.stop()
  }
}

async function readBesideLogins(panel: RunningPanel, reads: Target, size: Size) {
  let isOver = false
  let logins = 0
  const start = performance.now()
  const work = Array.from({ length: inFlight }, async (_, user) => {
    const connection = openConnection(panel.port)
    while (!isOver) {
      const { status } = await connection.send(requestBytes(panel.port, loginRequest(user, size)))
      if (status === 200) logins += 1
      else await new Promise((resolve) => setTimeout(resolve, 100))
    }
    connection.close()
  })
  // The first hashes have begun.
  await new Promise((resolve) => setTimeout(resolve, 100))
  const { times } = await load(reads, readers, readMs)
  isOver = true
  await Promise.all(work)
  return { times, perSecond: (logins * 1000) / (performance.now() - start) }
}

async function readBesideCounters(reads: Target): Promise<number[]> {
  const children = Array.from({ length: counters }, () =>
    spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
  )
  await Promise.all(children.map((child) => once(child, 'spawn')))
  try {
    for (const { pid } of children) setPriority(Number(pid), constants.priority.PRIORITY_LOW)
    // They have started and count.
    await new Promise((resolve) => setTimeout(resolve, 300))
    return (await load(reads, readers, readMs)).times
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

async function signInAtOnce(panel: RunningPanel, size: Size): Promise<LoginCosts['burst']> {
  const answers = await Promise.all(
    Array.from({ length: burst }, async (_, user) => {
      const connection = openConnection(panel.port)
      const answer = await connection.send(requestBytes(panel.port, loginRequest(user, size)))
      connection.close()
      return answer
    }),
  )
  const times = answers.filter(({ status }) => status === 200).map(({ milliseconds }) => milliseconds)
  return {
    answers: times.length,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    refused: burst - times.length,
  }
}

/** Prints what logins cost, and what they do to reads. */
export function printLogins({ burst: at, quiet, busy, counting, loginsPerSecond }: LoginCosts): void {
  printHeading('logins')
  console.log(
    `${burst} at once: ${at.answers} signed in, p50 ${decimal(at.p50, 0)} ms, p99 ${decimal(at.p99, 0)} ms, ${at.refused} refused`,
  )
  console.log(
    `reads beside ${inFlight} logins in flight: p99 ${decimal(busy, 1)} ms, beside none ${decimal(quiet, 1)} ms, ×${decimal(busy / quiet, 2)} (target: ×1.5); ${decimal(loginsPerSecond, 1)} logins/s`,
  )
  console.log(
    `beside ${counters} programs at the lowest priority that only count: p99 ${decimal(counting, 1)} ms, ×${decimal(counting / quiet, 2)}`,
  )
}
