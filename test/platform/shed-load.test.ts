import type { Context } from 'hono'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { HttpEnv } from '../../src/http/http-env.ts'
import { type Arrival, minInFlight, shedLoad } from '../../src/platform/shed-load.ts'
import { timeStatement } from '../../src/platform/statement-stats.ts'
import { ask, tinyApp } from '../http/tiny-app.ts'

const paths = ['/api/client', '/api/application/users', '/auth/login', '/api/remote/servers', '/jobs/run']
type Handler = (c: Context<HttpEnv>) => Response | Promise<Response>
/** Opens an app that gets requests once they are admitted, as that of a process does; `get` adds a route. */
function openApp(connections: number, maxWaitMs?: number) {
  const { admitRequests, refuse } = shedLoad(connections, maxWaitMs)
  const app = tinyApp().use(refuse)
  const answer = admitRequests((request, bindings) => app.fetch(request, bindings))
  return {
    get: (path: string, handler: Handler) => void app.get(path, handler),
    request: (url: string | URL | Request, init?: RequestInit) => answer(new Request(url, init)),
  }
}

/** An app of its own for each question: what waits to begin counts, too. */
function openSmall(connections = 2, maxWaitMs?: number) {
  const app = openApp(connections, maxWaitMs)
  for (const path of [...paths, '/health', '/metrics', '/assets/index.js'])
    app.get(path, (c) => c.body(null, 204))
  return app
}

let answerStatements: () => void = () => undefined
/** Has statements wait for the database until the test ends. */
function wait(count: number): void {
  const { promise, resolve } = Promise.withResolvers<void>()
  const before = answerStatements
  answerStatements = () => {
    before()
    resolve()
  }
  for (let n = 0; n < count; n += 1) void timeStatement(promise)
}
afterEach(async () => {
  answerStatements()
  // The count goes down once each statement has gone on.
  await new Promise((resolve) => setImmediate(resolve))
  answerStatements = () => undefined
})

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Asks for each path; a request that is not refused by the next turn is taken, though it may wait to begin. */
const outcomes = (of: string[], by?: ReturnType<typeof openSmall>) =>
  Promise.all(
    of.map((path) =>
      Promise.race([
        ask(by ?? openSmall(), 'GET', path).then(({ status }) => (status === 503 ? 'refused' : 'taken')),
        nextTurn()
          .then(nextTurn)
          .then(() => 'taken'),
      ]),
    ),
  )
const allTaken = paths.map(() => 'taken')
const usersRefused = ['refused', 'refused', 'refused', 'taken', 'taken']

describe('while statements wait for the database', () => {
  it('users are refused from 32 for each connection on, in the shape of the wire', async () => {
    vi.spyOn(console, 'warn').mockReturnValue()
    wait(63)
    expect(await outcomes(paths)).toEqual(allTaken)
    wait(1)
    expect(await outcomes(paths)).toEqual(usersRefused)
    const { body, headers } = await ask(openSmall(), 'GET', '/api/client')
    expect(body.errors).toEqual([
      {
        code: 'ServiceOverloadedException',
        status: '503',
        detail: 'The panel has too much to do. Try again in a moment.',
        meta: { reason: 'panel_overloaded' },
      },
    ])
    expect(headers.get('retry-after')).toBe('5')
  })

  it('daemons and jobs are refused at twice as many, monitoring and files never', async () => {
    vi.spyOn(console, 'warn').mockReturnValue()
    wait(127)
    expect(await outcomes(['/api/remote/servers', '/jobs/run'])).toEqual(['taken', 'taken'])
    wait(1)
    expect(await outcomes(['/api/remote/servers', '/jobs/run'])).toEqual(['refused', 'refused'])
    expect(await outcomes(['/health', '/metrics', '/assets/index.js'])).toEqual(['taken', 'taken', 'taken'])
  })

  it('all are taken again once they are answered, also with an error', async () => {
    const failing = Array.from({ length: 200 }, () => timeStatement(Promise.reject(new Error('lost'))))
    await Promise.allSettled(failing)
    expect(await outcomes(paths)).toEqual(allTaken)
  })
})

describe('while all connections have a statement and another waits for each', () => {
  /** An app over two connections, and the paths of the requests that have begun. */
  function openFull() {
    const begun: string[] = []
    const full = openApp(2)
    for (const path of [...paths, '/health', '/assets/index.js'])
      full.get(path, (c) => {
        begun.push(path)
        return c.body(null, 204)
      })
    return { full, begun }
  }
  it('requests begin in their order once statements are answered, monitoring and files at once', async () => {
    const { full, begun } = openFull()
    wait(4)
    const atOnce = ['/health', '/assets/index.js']
    const asked = [...paths, ...atOnce].map((path) => ask(full, 'GET', path))
    await nextTurn()
    expect(begun).toEqual(atOnce)
    answerStatements()
    const statusesOfAll = (await Promise.all(asked)).map(({ status }) => status)
    expect(statusesOfAll).toEqual([...paths, ...atOnce].map(() => 204))
    expect(begun).toEqual([...atOnce, ...paths])
  })

  it('a request that has waited knows when it came', async () => {
    const { full } = openFull()
    let arrivedAt = NaN
    full.get('/arrival', (c) => {
      arrivedAt = (c.env as unknown as Arrival).arrivedAt
      return c.body(null, 204)
    })
    wait(4)
    const before = performance.now()
    const asked = ask(full, 'GET', '/arrival')
    await nextTurn()
    const after = performance.now()
    answerStatements()
    await asked
    expect(arrivedAt).toBeGreaterThanOrEqual(before)
    expect(arrivedAt).toBeLessThanOrEqual(after)
  })

  it('more requests than places all begin, though none of them sends a statement', async () => {
    const { full } = openFull()
    wait(4)
    const asked = Array.from({ length: 20 }, () => ask(full, 'GET', '/api/client'))
    await nextTurn()
    answerStatements()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(
      Array.from({ length: 20 }, () => 204),
    )
  })

  it('those that wait to begin count among the statements that wait', async () => {
    vi.spyOn(console, 'warn').mockReturnValue()
    const { full } = openFull()
    wait(4)
    const asked = Array.from({ length: 60 }, () => ask(full, 'GET', '/api/client'))
    await nextTurn()
    expect((await ask(full, 'GET', '/api/client')).status).toBe(503)
    answerStatements()
    expect((await Promise.all(asked)).filter(({ status }) => status === 204)).toHaveLength(60)
  })
})

describe('while statements are answered slowly', () => {
  let slow: ReturnType<typeof openSmall>
  beforeEach(() => {
    slow = openSmall(10, 20)
  })
  const outcomesNow = () => outcomes(paths, slow)
  /** Lets several periods of measuring pass, in each of which so many statements are answered. */
  async function outcomesWhile(answered: number) {
    for (let period = 0; period < 3; period += 1) {
      await outcomesNow()
      for (let n = 0; n < answered; n += 1) await timeStatement(Promise.resolve())
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    return outcomesNow()
  }

  it('users are refused before as many wait, and daemons at twice as many', async () => {
    vi.spyOn(console, 'warn').mockReturnValue()
    // Those that were asked and wait to begin count among the 64.
    wait(40)
    expect(await outcomesWhile(0)).toEqual(allTaken)
    wait(24)
    expect(await outcomesWhile(0)).toEqual(usersRefused)
  })

  it('all are taken while they are answered fast', async () => {
    wait(100)
    expect(await outcomesWhile(2000)).toEqual(allTaken)
  })

  it('all are taken while the first statements of a burst are in progress', async () => {
    const app = openSmall(10)
    const onePeriod = () => new Promise((resolve) => setTimeout(resolve, 60))
    await onePeriod()
    wait(20)
    const asked = Array.from({ length: 80 }, () => ask(app, 'GET', '/api/client'))
    await onePeriod()
    expect(await outcomes(paths, app)).toEqual(allTaken)
    answerStatements()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 204))
  })

  it('all are taken when as many come again after a while without any', async () => {
    for (let burst = 0; burst < 3; burst += 1) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      wait(100)
      expect(await outcomesNow()).toEqual(allTaken)
      answerStatements()
    }
  })
})

describe('while requests wait for the event loop', () => {
  const maxWaitMs = 20
  let answerAll: () => void
  let answered: Promise<unknown>
  afterEach(async () => {
    answerAll()
    await answered
  })

  /** Opens an app with so many requests in flight, each of which is answered once the test ends. */
  async function openBusy(inFlight: number) {
    const [release, allBegun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const busy = openApp(2, maxWaitMs)
    for (const path of [...paths, '/health']) busy.get(path, (c) => c.body(null, 204))
    let begun = 0
    // What is never refused is held.
    busy.get('/metrics', async (c) => {
      begun += 1
      if (begun === inFlight) allBegun.resolve()
      await release.promise
      return c.body(null, 204)
    })
    answerAll = release.resolve
    answered = Promise.all(Array.from({ length: inFlight }, () => ask(busy, 'GET', '/metrics')))
    await allBegun.promise
    return busy
  }

  /** Asks for each path after the process has worked for ten times as long as a request may wait. */
  async function statusesAfterWork(busy: Awaited<ReturnType<typeof openBusy>>, of: string[]) {
    const found: number[] = []
    for (const path of of) {
      const end = performance.now() + 10 * maxWaitMs
      while (performance.now() < end);
      found.push((await ask(busy, 'GET', path)).status)
    }
    return found
  }

  it('users are refused when they would wait for too long', async () => {
    vi.spyOn(console, 'warn').mockReturnValue()
    const busy = await openBusy(minInFlight)
    expect(await statusesAfterWork(busy, [...paths, '/health'])).toEqual([503, 503, 503, 204, 204, 204])
  })

  it('daemons and jobs are refused as well at twice as many, and monitoring never', async () => {
    vi.spyOn(console, 'warn').mockReturnValue()
    const busy = await openBusy(2 * minInFlight)
    expect(await statusesAfterWork(busy, ['/jobs/run', '/api/remote/servers', '/health'])).toEqual([
      503, 503, 204,
    ])
  })

  it('what a few pages send at once is taken', async () => {
    const busy = await openBusy(minInFlight - 1)
    expect(await statusesAfterWork(busy, paths)).toEqual(paths.map(() => 204))
  })

  it('requests that wait for something else, such as a daemon, lead to no refusal', async () => {
    const busy = await openBusy(4 * minInFlight)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect((await ask(busy, 'GET', '/api/client')).status).toBe(204)
  })
})
