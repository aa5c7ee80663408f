import { beforeEach, describe, expect, it } from 'vitest'
import { makeApplicationToken, makeLocation, makeNode, makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

describe('locations', () => {
  it('are added, shown, changed and removed', async () => {
    const added = await world.request('POST', '/api/application/locations', {
      token,
      body: { short: ' ams ', long: 'Amsterdam' },
    })
    expect(added).toMatchObject({
      status: 201,
      body: {
        object: 'location',
        attributes: { id: 1, short: 'ams', long: 'Amsterdam' },
        meta: { resource: 'http://panel.test/api/application/locations/1' },
      },
    })
    const changed = await world.request('PATCH', '/api/application/locations/1', {
      token,
      body: { long: '' },
    })
    expect(changed.body.attributes).toMatchObject({ short: 'ams', long: null })
    for (const body of [{}, null, { other: 1 }]) {
      const refused = await world.request('PATCH', '/api/application/locations/1', { token, body })
      expect(refused.status).toBe(422)
      expect(refused.body.errors[0].meta).toMatchObject({ source_field: 'short', rule: 'required' })
    }
    expect((await world.request('DELETE', '/api/application/locations/1', { token })).status).toBe(204)
    expect((await world.request('GET', '/api/application/locations/1', { token })).status).toBe(404)
  })

  it('are listed in pages whose links keep the query', async () => {
    for (const short of ['aa', 'ab', 'b']) await makeLocation(world, { short })
    const { body } = await world.request(
      'GET',
      '/api/application/locations?per_page=1&filter[short]=A&sort=-id',
      { token },
    )
    expect(body.data.map((item: any) => item.attributes.short)).toEqual(['ab'])
    expect(body.meta.pagination).toMatchObject({
      total: 2,
      count: 1,
      per_page: 1,
      current_page: 1,
      total_pages: 2,
    })
    expect(decodeURIComponent(body.meta.pagination.links.next)).toBe(
      'http://panel.test/api/application/locations?per_page=1&filter[short]=A&sort=-id&page=2',
    )
  })

  it('bring their relations along in the same statement, as far as the key may read them', async () => {
    const location = await makeLocation(world)
    const node = await makeNode(world, { locationId: location.id })
    const server = await makeServer(world, { node })
    let answer: any
    const path = `/api/application/locations/${location.id}?include=nodes,servers.user,unknown`
    expect(
      await world.countStatements(async () => (answer = await world.request('GET', path, { token }))),
    ).toBe(2)
    const { relationships } = answer.body.attributes
    expect(relationships.nodes.data[0].attributes.uuid).toBe(node.uuid)
    expect(relationships.servers.data[0].attributes.uuid).toBe(server.uuid)
    expect(relationships.servers.data[0].attributes.relationships.user.attributes.id).toBe(server.ownerId)
    const poor = await makeApplicationToken(world, { locations: 1 })
    const denied = await world.request('GET', path, { token: poor })
    expect(denied.body.attributes.relationships).toEqual({
      nodes: { object: 'null_resource', attributes: null },
      servers: { object: 'null_resource', attributes: null },
    })
  })

  it('refuse a short name that is taken, whatever its case', async () => {
    await makeLocation(world, { short: 'ams' })
    const { status, body } = await world.request('POST', '/api/application/locations', {
      token,
      body: { short: 'AMS' },
    })
    expect(status).toBe(422)
    expect(body.errors).toEqual([
      {
        code: 'ValidationException',
        status: '422',
        detail: expect.any(String),
        meta: { source_field: 'short', rule: 'unique' },
      },
    ])
  })

  it('name each broken rule of each field', async () => {
    const { body } = await world.request('POST', '/api/application/locations', {
      token,
      body: { short: '', long: 'x'.repeat(192) },
    })
    expect(body.errors.map((error: any) => error.meta)).toMatchObject([
      { source_field: 'short', rule: 'required' },
      { source_field: 'long', rule: 'between' },
    ])
  })

  it('with nodes cannot be removed', async () => {
    const node = await makeNode(world)
    const { status, body } = await world.request('DELETE', `/api/application/locations/${node.locationId}`, {
      token,
    })
    expect(status).toBe(400)
    expect(body.errors[0].code).toBe('HasActiveNodesException')
  })

  it('refuse filters and sorts they do not know', async () => {
    expect(
      (await world.request('GET', '/api/application/locations?filter[region]=x', { token })).body.errors[0]
        .code,
    ).toBe('InvalidFilterQuery')
    expect(
      (await world.request('GET', '/api/application/locations?sort=long', { token })).body.errors[0].code,
    ).toBe('InvalidSortQuery')
  })

  it('are linked under the configured origin, whatever host the request names', async () => {
    for (const short of ['aa', 'ab']) await makeLocation(world, { short })
    const response = await world.app.request('http://evil.test/api/application/locations?per_page=1', {
      headers: { authorization: `Bearer ${token}` },
    })
    const { meta } = (await response.json()) as { meta: { pagination: { links: { next: string } } } }
    expect(meta.pagination.links.next).toBe('http://panel.test/api/application/locations?per_page=1&page=2')
  })
})
