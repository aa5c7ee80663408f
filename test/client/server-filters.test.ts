import { beforeEach, describe, expect, it } from 'vitest'
import {
  makeClientToken,
  makeEgg,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let user: Awaited<ReturnType<typeof makeUser>>
let admin: Awaited<ReturnType<typeof makeUser>>

beforeEach(async () => {
  user = await makeUser(world)
  admin = await makeUser(world, { rootAdmin: true })
  const [own, shared, other] = [
    await makeNode(world, { name: 'berlin' }),
    await makeNode(world, { name: 'Amsterdam' }),
    await makeNode(world, { name: 'Paris' }),
  ]
  const [paper, rust] = [await makeEgg(world, { name: 'Paper' }), await makeEgg(world, { name: 'Rust' })]
  await makeNode(world, { name: 'Empty' })
  await makeServer(world, { owner: user, node: own, egg: paper })
  await makeServer(world, { owner: user, node: own, egg: paper })
  await makeSubuser(world, await makeServer(world, { node: shared, egg: paper }), user, [])
  await makeServer(world, { owner: admin, node: other, egg: rust })
})

const choices = async (query = '', as = user) => {
  const path = `/api/client/account/servers/filters${query}`
  const { status, body } = await world.request('GET', path, { token: await makeClientToken(world, as) })
  expect([status, body.object]).toEqual([200, 'server_filters'])
  return [body.attributes.nodes, body.attributes.eggs]
}

describe('the names by which a list of servers can be filtered', () => {
  it('are those of the servers to which the caller has access, each once and in order', async () => {
    expect(await choices()).toEqual([['Amsterdam', 'berlin'], ['Paper']])
    expect(await choices('?type=owner')).toEqual([['berlin'], ['Paper']])
    expect(await choices('?type=nonsense')).toEqual(await choices())
  })

  it('are those of all servers for administrators alone', async () => {
    expect(await choices('?type=admin-all', admin)).toEqual([
      ['Amsterdam', 'berlin', 'Paris'],
      ['Paper', 'Rust'],
    ])
    expect(await choices('?type=admin', admin)).toEqual([['Amsterdam', 'berlin'], ['Paper']])
    expect(await choices('?type=admin-all')).toEqual([[], []])
  })
})
