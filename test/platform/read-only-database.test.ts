import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeApplicationToken } from '../support/factories.ts'
import { useLogLines } from '../support/log-lines.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
useLogLines()
let token: string
beforeEach(async () => {
  token = await makeApplicationToken(world)
  // A report is reused for ten seconds, also that of the test before.
  world.clock.advance(11)
})
afterEach(() => setReadOnly('off'))

const setReadOnly = (value: 'on' | 'off') =>
  world.database.db.execute(sql.raw(`set default_transaction_read_only = ${value}`))
const write = () => world.request('POST', '/api/application/locations', { token, body: { short: 'disk' } })
const health = async () => {
  world.clock.advance(11)
  // A report is no error, whatever its status.
  const answer = await world.app.request('http://panel.test/health')
  const { status, parts } = (await answer.json()) as any
  return [answer.status, status, parts.database]
}

it('a database that cannot write is failed in /health after a write was refused, until it can again', async () => {
  expect((await health())[2]).toBe('ok')
  await setReadOnly('on')
  const { status, body } = await write()
  expect([status, body.errors[0].detail]).toEqual([503, 'The database of the panel cannot write right now.'])
  expect((await world.request('GET', '/api/application/locations', { token })).status).toBe(200)
  for (const _ of [1, 2]) expect(await health()).toEqual([503, 'down', 'failed'])
  await setReadOnly('off')
  expect((await health())[2]).toBe('ok')
  expect((await write()).status).toBe(201)
  expect(await world.database.db.execute(sql`select to_regclass('write_probe') as probe`)).toMatchObject({
    rows: [{ probe: null }],
  })
})
