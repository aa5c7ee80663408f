import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSession } from '../../src/domain/auth/sessions.ts'
import { makeApplicationToken, makeClientToken, makeServer, makeUser } from '../support/factories.ts'
import { useLogLines } from '../support/log-lines.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const logged = useLogLines()
let token: string
beforeEach(async () => {
  token = await makeApplicationToken(world)
})
afterEach(async () => {
  await world.database.db.execute(sql`drop function if exists refuse_write cascade`)
})

/** Makes the database refuse these writes with this SQLSTATE, as it does when a disk is full or broken. */
async function refuseWrites(sqlState: string, writes = 'insert on locations') {
  const { db } = world.database
  await db.execute(
    sql.raw(`create or replace function refuse_write() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = '${sqlState}'; end $$`),
  )
  await db.execute(sql.raw(`create trigger refuse_write before ${writes} execute function refuse_write()`))
}

const write = () => world.request('POST', '/api/application/locations', { token, body: { short: 'disk' } })
const list = () => world.request('GET', '/api/application/locations', { token })

describe('disk full while running', () => {
  it.each([
    ['53100', 507, 'InsufficientStorageHttpException', '30'],
    ['58030', 503, 'ServiceUnavailableHttpException', '5'],
  ])(
    'a write that fails with SQLSTATE %s is answered %d, and reads go on',
    async (sqlState, status, code, retry) => {
      await refuseWrites(sqlState)
      const refused = await write()
      expect([refused.status, refused.body.errors[0].code]).toEqual([status, code])
      expect(refused.headers.get('retry-after')).toBe(retry)
      expect(refused.text).not.toContain('extend file')
      const { status: read, body } = await list()
      expect([read, body.data]).toEqual([200, []])
      expect(logged.lines()).toMatchObject([
        { level: 'error', message: 'A request failed.', status },
        { message: 'request' },
        { message: 'request' },
      ])
    },
  )

  it.each(['53100', '58030'])(
    'reads go on although the use of a key or a session cannot be noted: SQLSTATE %s',
    async (sqlState) => {
      const user = await makeUser(world)
      const clientToken = await makeClientToken(world, user)
      const server = await makeServer(world, { owner: user })
      const { token: session } = await createSession(world.panel, user, {
        userAgent: '',
        previous: null,
        remember: false,
      })
      world.clock.advance(61)
      await refuseWrites(sqlState, 'update on api_keys')
      await refuseWrites(sqlState, 'update on sessions')
      const cookie = { headers: { cookie: `roost_session=${session}` } }
      for (const [path, options] of [
        ['/api/application/users', { token }],
        ['/api/client/account', { token: clientToken }],
        [`/api/client/servers/${server.uuid}`, { token: clientToken }],
        [`/api/client/servers/${server.uuid}`, cookie],
        ['/account/security/sessions', cookie],
      ] as const) {
        expect((await world.request('GET', path, options)).status, path).toBe(200)
      }
      expect((await world.request('GET', '/api/client/account', { token: `${clientToken}x` })).status).toBe(
        401,
      )
    },
  )

  it('writes go on once there is space again', async () => {
    await refuseWrites('53100')
    expect((await write()).status).toBe(507)
    await world.database.db.execute(sql`drop function refuse_write cascade`)
    expect((await write()).status).toBe(201)
    expect((await list()).body.data).toHaveLength(1)
  })
})
