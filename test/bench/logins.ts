import { csrfToken, newSessionToken } from '../../src/domain/auth/sessions.ts'
import { quantile, round, type Scenario, send } from './load.ts'
import { benchOrigin } from './services.ts'
import { benchPassword } from './seed.ts'

/** Durations of reads in milliseconds, without logins and with one login of each name in flight. */
type LoginCosts = { read: string; inFlight: number; quiet: number; busy: number; loginsPerSecond: number }

/** Measures both in turn, so that a slow minute of the machine affects each alike. */
export async function measureLogins(
  port: number,
  read: Scenario,
  names: string[],
  rounds: number,
): Promise<LoginCosts> {
  const quiet: number[] = []
  const busy: number[] = []
  let logins = 0
  let milliseconds = 0
  for (let at = 0; at < rounds; at += 1) {
    quiet.push(...(await round(port, read)).times)
    const start = performance.now()
    const signingIn = keepSigningIn(port, names)
    try {
      busy.push(...(await round(port, read)).times)
    } finally {
      logins += await signingIn.end()
    }
    milliseconds += performance.now() - start
  }
  return {
    read: read.name,
    inFlight: names.length,
    quiet: quantile(quiet, 0.99),
    busy: quantile(busy, 0.99),
    loginsPerSecond: (logins * 1000) / milliseconds,
  }
}

/** Signs in every user repeatedly; `end` waits for the last login and returns how many there were. */
function keepSigningIn(port: number, names: string[]): { end: () => Promise<number> } {
  let isOver = false
  let logins = 0
  const signIns = Promise.all(
    names.map(async (name) => {
      while (!isOver) {
        const { status } = await send(port, loginOf(name))
        if (status !== 200) throw new Error(`A login answered ${status}.`)
        logins += 1
      }
    }),
  )
  // A failure is thrown by `end`.
  signIns.catch(() => undefined)
  return {
    end: async () => {
      isOver = true
      await signIns
      return logins
    },
  }
}

let networks = 0

/** Builds a login from a new network each time, because logins are limited by network. */
function loginOf(user: string): Scenario {
  networks += 1
  const token = newSessionToken()
  return {
    name: 'POST /auth/login',
    method: 'POST',
    path: '/auth/login',
    headers: {
      'content-type': 'application/json',
      origin: benchOrigin,
      cookie: `roost_session=${token}`,
      'x-xsrf-token': csrfToken(token),
      'x-bench-address': `10.${(networks >> 16) & 255}.${(networks >> 8) & 255}.${networks & 255}`,
    },
    body: JSON.stringify({ user, password: benchPassword }),
  }
}

/** Prints the row of reads during logins. */
export function printLogins({ read, inFlight, quiet, busy, loginsPerSecond }: LoginCosts): void {
  const words = [
    `p99 ${busy.toFixed(1)} ms beside ${inFlight} logins in flight`,
    `${quiet.toFixed(1)} ms beside none`,
    `${(busy / quiet).toFixed(2)} times as much`,
    `${loginsPerSecond.toFixed(1)} logins/s`,
  ]
  console.log(`\n${read}: ${words.join(', ')}`)
}
