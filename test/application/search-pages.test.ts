import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeApplicationToken, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const exact = 'u7@mail.test'

/** Makes users whose address contains the exact one, and then the user who has it. */
async function makeMatches(count: number): Promise<void> {
  await world.database.db.execute(sql`
    insert into users (username, email, email_verified_at, first_name, last_name)
    select 'match' || n, 'x' || n || ${exact}::text, now(), 'Uma', 'x' from generate_series(1, ${count}) n`)
  await makeUser(world, { username: 'exact', email: exact })
}

async function listed(query: string) {
  const { body } = await world.request('GET', `/api/application/users?filter[email]=${exact}&${query}`, {
    token,
  })
  const { data, meta } = body as {
    data: { attributes: { username: string; uuid: string } }[]
    meta: { pagination: { total: number } }
  }
  return { names: data.map(({ attributes }) => attributes.username), data, total: meta.pagination.total }
}

describe.each([
  ['as many matches as are counted', 999, 1000],
  ['more matches than are counted', 1299, 1001],
])('a search with %s', (_name, partial, shownTotal) => {
  beforeEach(async () => makeMatches(partial))

  it('has the exact match first, and every other match once, by id', async () => {
    const pages: string[][] = []
    for (let page = 1; pages.at(-1)?.length !== 0; page += 1)
      pages.push((await listed(`per_page=400&page=${page}`)).names)
    const inOrder = Array.from({ length: partial }, (_, at) => `match${at + 1}`)
    expect(pages.flat()).toEqual(['exact', ...inOrder])
  })

  it('counts them exactly up to 1,000, and beyond with the pages that were read', async () => {
    expect((await listed('per_page=50')).total).toBe(shownTotal)
    expect((await listed('per_page=500&page=3')).total).toBe(Math.max(shownTotal, partial + 1))
  })

  it('is sorted as requested', async () => {
    const uuids = (await listed('per_page=500&sort=-uuid')).data.map(({ attributes }) => attributes.uuid)
    expect(uuids).toEqual(uuids.toSorted().reverse())
    expect(uuids).toHaveLength(500)
  })
})
