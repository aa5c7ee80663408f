import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eq, sql } from 'drizzle-orm'
import { users } from '../../src/db/schema.ts'
import { type DatabaseHandle, openPostgres } from '../../src/platform/postgres.ts'
import { createDatabase } from '../support/database.ts'

let created: Awaited<ReturnType<typeof createDatabase>>
let database: DatabaseHandle

beforeEach(async () => {
  created = await createDatabase()
  database = openPostgres(created.url, 2, undefined, 2000)
})
afterEach(async () => {
  await database.close()
  await created.drop()
})

/** Reads values through a statement whose rows are arrays. */
const read = async (value: unknown, type: string) => {
  const [row] = await database.db
    .select({ value: sql.raw('value') })
    .from(sql`(select ${value}::${sql.raw(type)} as value) one`)
  return row?.value
}
const pid = async () =>
  (await database.db.select({ pid: sql<number>`pg_backend_pid()` }).from(sql`(select 1) one`))[0]?.pid

describe('a statement through the pool', () => {
  it('takes and returns values of every kind, more than once', async () => {
    for (let round = 0; round < 3; round += 1) {
      expect(await read('Größe "x" \u{1F600}\n', 'text')).toBe('Größe "x" \u{1F600}\n')
      expect(await read('', 'text')).toBe('')
      expect(await read(null, 'text')).toBeNull()
      expect(await read(-42, 'integer')).toBe(-42)
      expect(await read(true, 'boolean')).toBe(true)
      expect(await read('{"a":[1,null]}', 'json')).toEqual({ a: [1, null] })
      expect(await read('{1,2}', 'integer[]')).toEqual([1, 2])
      expect(await read('x'.repeat(300_000), 'text')).toHaveLength(300_000)
    }
  })

  it('waits while all connections are busy, and all are answered in their turn', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => read(n, 'integer')))
    expect(answers).toEqual(Array.from({ length: 100 }, (_, n) => n))
    const [{ count } = { count: 0 }] = await database.db
      .select({ count: sql<number>`count(*)::int` })
      .from(sql`pg_stat_activity where datname = current_database()`)
    expect(count).toBe(2)
  })

  it('that fails leaves its connection for the next one', async () => {
    const before = await pid()
    await expect(read('x', 'integer')).rejects.toMatchObject({ cause: { code: '22P02' } })
    expect(await pid()).toBe(before)
    expect(await read(1, 'integer')).toBe(1)
  })

  it('fails with 08006 when its connection is lost, and the next one has another', async () => {
    const before = await pid()
    await expect(
      Promise.all([
        database.db.select({ one: sql`pg_sleep(10)` }).from(sql`(select 1) one`),
        read(0, 'integer').then(() =>
          database.db.execute(
            sql`select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(10)%' and pid <> pg_backend_pid() and datname = current_database()`,
          ),
        ),
      ]),
    ).rejects.toMatchObject({ cause: { code: expect.stringMatching(/^(57P01|08006)$/) } })
    expect(await pid()).toEqual(expect.any(Number))
    expect([before, await read(2, 'integer')]).toEqual([expect.any(Number), 2])
  })

  it('waits for a transaction that has the connection, and a transaction for statements', async () => {
    const order: string[] = []
    await Promise.all([
      ...[1, 2].map((n) =>
        database.transaction(async (db) => {
          await db.execute(sql`select pg_sleep(0.1)`)
          await db
            .insert(users)
            .values({ username: `u${n}`, email: `u${n}@x.test`, firstName: 'a', lastName: 'b' })
          order.push('transaction')
        }),
      ),
      read(1, 'integer').then(() => order.push('statement')),
    ])
    expect(order.toSorted()).toEqual(['statement', 'transaction', 'transaction'])
    expect(await database.db.select({ username: users.username }).from(users).orderBy(users.id)).toHaveLength(
      2,
    )
  })

  it('in progress is finished before the pool is closed; none begins after', async () => {
    const slow = database.db
      .select({ one: sql`pg_sleep(0.2)`, two: sql<number>`2` })
      .from(sql`(select 1) one`)
    const answer = slow.then((rows) => rows[0]?.two)
    await read(1, 'integer')
    await database.close()
    expect(await answer).toBe(2)
    await expect(read(1, 'integer')).rejects.toMatchObject({ cause: { code: '08006' } })
    database = openPostgres(created.url, 1)
  })
})

describe('statements that are prepared by the code', () => {
  /** Reads 12 / n, with the connection and the time at which its transaction began. */
  const openRead = () =>
    database.db
      .select({
        value: sql<number>`12 / ${sql.placeholder('n')}::int`,
        pid: sql<number>`pg_backend_pid()`,
        begun: sql<string>`now()::text`,
      })
      .from(sql`(select 1) one`)
      .prepare('twelfth')
  /** Lets both connections prepare the statement. */
  const openPrepared = async () => {
    const statement = openRead()
    await Promise.all([1, 1].map((n) => statement.execute({ n })))
    return statement
  }

  const connections = async () =>
    database.db
      .select({ pid: sql<number>`pid` })
      .from(sql`pg_stat_activity where datname = current_database()`)
      .orderBy(sql`pid`)

  it('and only read are sent together where they are called in one turn', async () => {
    const statement = await openPrepared()
    const rows = (await Promise.all([1, 2, 3, 4, 6, 12].map((n) => statement.execute({ n })))).flat()
    expect(rows.map(({ value }) => value)).toEqual([12, 6, 4, 3, 2, 1])
    expect(new Set(rows.map(({ begun }) => begun)).size).toBe(1)
    const next = await statement.execute({ n: 5 })
    expect(next).toEqual([
      { value: 2, pid: expect.any(Number), begun: expect.not.stringMatching(rows[0]?.begun ?? '') },
    ])
  })

  it('are eight at most on one connection, and all answered in any number', async () => {
    const statement = await openPrepared()
    const rows = (await Promise.all(Array.from({ length: 100 }, () => statement.execute({ n: 3 })))).flat()
    expect(rows.map(({ value }) => value)).toEqual(Array.from({ length: 100 }, () => 4))
    const sizes = Object.values(Object.groupBy(rows, ({ begun, pid }) => `${pid} ${begun}`)).map(
      (group) => group?.length,
    )
    expect(sizes.toSorted((one = 0, other = 0) => one - other)).toEqual([
      4,
      ...Array.from({ length: 12 }, () => 8),
    ])
  })

  it('are answered beside one that fails, which alone does', async () => {
    const statement = await openPrepared()
    const before = await connections()
    const settled = await Promise.allSettled([1, 0, 3, 0, 6].map((n) => statement.execute({ n })))
    expect(
      settled.map((each) =>
        each.status === 'fulfilled'
          ? each.value[0]?.value
          : (each.reason as { cause?: { code: string } }).cause?.code,
      ),
    ).toEqual([12, '22012', 4, '22012', 2])
    expect(await connections()).toEqual(before)
  })

  it('fail together when their connection is lost, and the next one has another', async () => {
    const statement = database.db
      .select({
        value: sql<number>`case when ${sql.placeholder('n')}::int = 0 then pg_terminate_backend(pg_backend_pid())::int else ${sql.placeholder('n')}::int end`,
      })
      .from(sql`(select 1) one`)
      .prepare('ending')
    await Promise.all([1, 1].map((n) => statement.execute({ n })))
    const settled = await Promise.allSettled([5, 0, 6].map((n) => statement.execute({ n })))
    expect(settled.slice(1).map((each) => each.status)).toEqual(['rejected', 'rejected'])
    expect(settled[2]).toMatchObject({
      reason: { cause: { code: expect.stringMatching(/^(57P01|08006)$/) } },
    })
    expect(await statement.execute({ n: 7 })).toEqual([{ value: 7 }])
  })

  it('and write have a transaction each', async () => {
    await database.db
      .insert(users)
      .values({ username: 'u', email: 'u@x.test', firstName: 'a', lastName: 'b' })
    const statement = database.db
      .update(users)
      .set({ lastName: sql`${sql.placeholder('name')}` })
      .where(eq(users.username, 'u'))
      .returning({ begun: sql<string>`now()::text` })
      .prepare('rename')
    for (let round = 0; round < 2; round += 1) {
      const rows = (await Promise.all(['c', 'd', 'e'].map((name) => statement.execute({ name })))).flat()
      expect(new Set(rows.map(({ begun }) => begun)).size).toBe(3)
    }
  })

  it('fail with 08006 when the pool is closed in the turn in which they are called', async () => {
    const statement = await openPrepared()
    const answers = [1, 2].map((n) => statement.execute({ n }))
    await Promise.all([
      database.close(),
      ...answers.map((answer) => expect(answer).rejects.toMatchObject({ cause: { code: '08006' } })),
    ])
    database = openPostgres(created.url, 1)
  })
})
