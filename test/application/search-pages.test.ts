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

/** Makes users whose address contains the exact one, `gap` ids from each other, and then the user who has it. */
async function makeMatches(count: number, gap: number): Promise<void> {
  await world.database.db.execute(sql`
    insert into users (id, username, email, email_verified_at, first_name, last_name) overriding system value
    select 1000 + n * ${gap}::int, 'match' || n, 'x' || n || ${exact}::text, now(), 'Uma', 'x' from generate_series(1, ${count}) n`)
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
  ['as many matches as are counted', 999, 1, 1000],
  ['more matches than are counted', 1299, 1, 1001],
  ['more matches than are counted, far from each other', 1299, 300, 1001],
  ['more matches than are ordered, far from each other', 10_099, 300, 1001],
])('a search with %s', (_name, partial, gap, shownTotal) => {
  beforeEach(async () => makeMatches(partial, gap))

  it('has the exact match first, and every other match once, by id', async () => {
    const pages: string[][] = []
    for (let page = 1; pages.at(-1)?.length !== 0; page += 1)
      pages.push((await listed(`per_page=500&page=${page}`)).names)
    const inOrder = Array.from({ length: partial }, (_, at) => `match${at + 1}`)
    expect(pages.flat()).toEqual(['exact', ...inOrder])
  })

  it('counts them exactly up to 1,000, and beyond with the pages that were read', async () => {
    expect((await listed('per_page=50')).total).toBe(shownTotal)
    const last = Math.ceil((partial + 1) / 500)
    expect((await listed(`per_page=500&page=${last}`)).total).toBe(Math.max(shownTotal, partial + 1))
  })

  it('is sorted as requested', async () => {
    const uuids = (await listed('per_page=500&sort=-uuid')).data.map(({ attributes }) => attributes.uuid)
    expect(uuids).toEqual(uuids.toSorted().reverse())
    expect(uuids).toHaveLength(500)
  })
})

it('finds a text with a number wherever it stands, and not its number alone', async () => {
  const names = ['order-777', 'ORDER-7770', 're-order-777x', 'order-77-7', 'invoice-777', 'order 777']
  for (const externalId of names) await makeUser(world, { externalId })
  const { body } = await world.request('GET', '/api/application/users?filter[external_id]=order-777', {
    token,
  })
  const found = (body as { data: { attributes: { external_id: string } }[] }).data
  expect(found.map(({ attributes }) => attributes.external_id)).toEqual(names.slice(0, 3))
})
