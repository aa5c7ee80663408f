import { afterEach, describe, expect, it, vi } from 'vitest'
import { shedLoad } from '../../src/platform/shed-load.ts'
import { timeStatement } from '../../src/platform/statement-stats.ts'
import { ask, tinyApp } from '../http/tiny-app.ts'

const paths = ['/api/client', '/api/application/users', '/auth/login', '/api/remote/servers', '/jobs/run']
const app = tinyApp().use(shedLoad(2))
for (const path of [...paths, '/health', '/metrics']) app.get(path, (c) => c.body(null, 204))

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

const statuses = (of: string[]) => Promise.all(of.map(async (path) => (await ask(app, 'GET', path)).status))

describe('while statements wait for the database', () => {
  it('users are refused from 32 for each connection on, in the shape of the wire', async () => {
    vi.spyOn(console, 'warn').mockReturnValue()
    wait(63)
    expect(await statuses(paths)).toEqual(paths.map(() => 204))
    wait(1)
    expect(await statuses(paths)).toEqual([503, 503, 503, 204, 204])
    const { body, headers } = await ask(app, 'GET', '/api/client')
    expect(body.errors).toEqual([
      {
        code: 'ServiceOverloadedException',
        status: '503',
        detail: 'The panel has too much to do. Try again in a moment.',
      },
    ])
    expect(headers.get('retry-after')).toBe('5')
  })

  it('daemons and jobs are refused at twice as many, and monitoring never', async () => {
    vi.spyOn(console, 'warn').mockReturnValue()
    wait(127)
    expect(await statuses(['/api/remote/servers', '/jobs/run'])).toEqual([204, 204])
    wait(1)
    expect(await statuses(['/api/remote/servers', '/jobs/run'])).toEqual([503, 503])
    expect(await statuses(['/health', '/metrics'])).toEqual([204, 204])
  })

  it('all are taken again once they are answered, also with an error', async () => {
    const failing = Array.from({ length: 200 }, () => timeStatement(Promise.reject(new Error('lost'))))
    await Promise.allSettled(failing)
    expect(await statuses(paths)).toEqual(paths.map(() => 204))
  })
})
