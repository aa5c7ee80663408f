import { beforeEach, describe, expect, it } from 'vitest'
import { activity, activitySubjects, eggMount, mountNode, mountServer } from '../../src/db/schema.ts'
import type { Acl } from '../../src/db/tables/api-keys.ts'
import {
  makeApplicationToken,
  makeEgg,
  makeKey,
  makeMount,
  makeNode,
  makeRoleHolder,
  makeServer,
} from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const path = '/api/application/mounts'
const request = (method: string, at = '', body?: object, as = token) =>
  world.request(method, `${path}${at}`, { token: as, ...(body ? { body } : {}) })
const input = { name: 'Maps', source: '/mnt/maps', target: '/home/container/maps' }
const rules = (answer: { body: any }) =>
  answer.body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`).toSorted()
const tokenWith = async (acl: Acl) => {
  const holder = await makeRoleHolder(world, acl)
  return (await makeKey(world, holder, { type: 'application', acl })).token
}
const namesIn = (answer: { body: any }) => answer.body.data.map(({ attributes }: any) => attributes.name)

describe('mounts', () => {
  it('are added, shown, changed and removed', async () => {
    const added = await request('POST', '', input)
    expect(added).toMatchObject({
      status: 201,
      body: {
        object: 'mount',
        attributes: { id: 1, ...input, description: '', read_only: true, user_mountable: false },
        meta: { resource: 'http://panel.test/api/application/mounts/1' },
      },
    })
    const changed = await request('PATCH', '/1', { read_only: false, description: 'Of the guild' })
    expect(changed.body.attributes).toMatchObject({ ...input, read_only: false, description: 'Of the guild' })
    expect((await request('GET', '/1')).body).toEqual(changed.body)
    expect((await request('PATCH', '/1', {})).body).toEqual(changed.body)
    expect((await request('DELETE', '/1')).status).toBe(204)
    expect((await request('GET', '/1')).status).toBe(404)
    expect((await request('PATCH', '/1', { name: 7 })).status).toBe(404)
    expect((await request('DELETE', '/1')).status).toBe(404)
  })

  it('replace their eggs and nodes, and keep lists that are not sent', async () => {
    const [egg, other] = [await makeEgg(world), await makeEgg(world)]
    const node = await makeNode(world)
    const ids = ({ body }: { body: any }, name: string) =>
      body.attributes.relationships[name].data.map(({ attributes }: any) => attributes.id)
    const added = await request('POST', '?include=eggs,nodes,servers', {
      ...input,
      eggs: [other.id, egg.id, egg.id],
      nodes: [node.id],
    })
    expect(ids(added, 'eggs')).toEqual([egg.id, other.id])
    expect(ids(added, 'nodes')).toEqual([node.id])
    expect(ids(added, 'servers')).toEqual([])
    const changed = await request('PATCH', '/1?include=eggs,nodes', { eggs: [other.id] })
    expect([ids(changed, 'eggs'), ids(changed, 'nodes')]).toEqual([[other.id], [node.id]])
    const emptied = await request('PATCH', '/1?include=eggs,nodes', { eggs: [], nodes: [] })
    expect([ids(emptied, 'eggs'), ids(emptied, 'nodes')]).toEqual([[], []])
    expect(rules(await request('PATCH', '/1', { eggs: [99] }))).toEqual(['eggs: exists'])
    expect(rules(await request('PATCH', '/1', { nodes: [99] }))).toEqual(['nodes: exists'])
  })

  it('are found by name, egg, node and server', async () => {
    const server = await makeServer(world)
    const members = { eggs: [server.eggId], nodes: [server.nodeId] }
    await makeMount(world, { ...members, servers: [server.id] }, { name: 'Maps' })
    await makeMount(world, members, { name: 'Plugins' })
    await makeMount(world, { eggs: [server.eggId] }, { name: 'Logs' })
    const found = async (query: string) => namesIn(await request('GET', `?${query}`))
    expect(await found('sort=-name')).toEqual(['Plugins', 'Maps', 'Logs'])
    expect(await found('filter[name]=UG')).toEqual(['Plugins'])
    expect(await found(`filter[egg_id]=${server.eggId}&filter[node_id]=${server.nodeId}`)).toEqual([
      'Maps',
      'Plugins',
    ])
    expect(await found(`filter[server_id]=${server.id}`)).toEqual(['Maps'])
    expect(await found('filter[server_id]=99')).toEqual([])
    const withServers = await request('GET', `?filter[name]=Maps&include=servers`)
    const [mount] = withServers.body.data
    expect(mount.attributes.relationships.servers.data[0].attributes.id).toBe(server.id)
  })

  it.each([
    ['relative', 'mnt/maps', 'regex'],
    ['the root', '/', 'regex'],
    ['climbing', '/mnt/../etc', 'regex'],
    ['with an empty part', '/mnt//maps', 'regex'],
    ['with a control character', '/mnt/a\u0007', 'regex'],
    ['of the daemon', '/etc/pterodactyl', 'not_in'],
    ['in a folder of the daemon', '/var/lib/pterodactyl/volumes/some-server', 'not_in'],
    ['around a folder of the daemon', '/var/lib/', 'not_in'],
    ['the socket of Docker', '/var/run/docker.sock', 'not_in'],
    ['too long', `/${'x'.repeat(191)}`, 'max'],
  ])('refuse a source that is %s', async (_name, source, rule) => {
    expect(rules(await request('POST', '', { ...input, source }))).toEqual([`source: ${rule}`])
  })

  it.each([
    ['/home/container', 'not_in'],
    ['/home/container/', 'not_in'],
    ['/home', 'not_in'],
    ['/tmp', 'not_in'],
    ['maps', 'regex'],
  ])('refuse the target %s', async (target, rule) => {
    expect(rules(await request('POST', '', { ...input, target }))).toEqual([`target: ${rule}`])
  })

  it('refuse a name that is taken, ignoring case, and what is missing', async () => {
    await makeMount(world, {}, { name: 'maps' })
    expect(rules(await request('POST', '', input))).toEqual(['name: unique'])
    expect(rules(await request('POST', '', {}))).toEqual([
      'name: required',
      'source: required',
      'target: required',
    ])
  })

  it('refuse the folder in which a node keeps the files of servers', async () => {
    const node = await makeNode(world, { daemonBase: '/srv/games/' })
    const nodes = [node.id]
    for (const source of ['/srv/games', '/srv/games/some-server', '/srv']) {
      const answer = await request('POST', '', { ...input, source, nodes })
      expect(rules(answer), source).toEqual(['source: not_in'])
    }
    const mount = await makeMount(world, { nodes })
    expect(rules(await request('PATCH', `/${mount.id}`, { source: '/srv/games' }))).toEqual([
      'source: not_in',
    ])
    expect((await request('POST', '', { ...input, source: '/srv/games-shared', nodes })).status).toBe(201)
  })

  it('keep a node from moving the files of servers into their folder', async () => {
    const node = await makeNode(world, { daemonBase: '/srv/games' })
    await makeMount(world, { nodes: [node.id] }, { name: 'maps', source: '/mnt/maps' })
    await makeMount(world, {}, { source: '/mnt/elsewhere' })
    const move = (daemonBase: string) =>
      world.request('PATCH', `/api/application/nodes/${node.id}`, { token, body: { daemonBase } })
    for (const daemonBase of ['/mnt/maps', '/mnt/maps/', '/mnt', '/mnt/maps/servers']) {
      const answer = await move(daemonBase)
      expect(rules(answer), daemonBase).toEqual(['daemonBase: not_in'])
      expect(answer.body.errors[0].meta).toMatchObject({
        reason: 'daemon_base_mounted',
        values: { mount: 'maps', path: '/mnt/maps' },
      })
    }
    expect((await move('/mnt/elsewhere')).status).toBe(200)
    expect((await move('/mnt/maps-2')).status).toBe(200)
  })

  it('keep a path without the slash at its end', async () => {
    const { body } = await request('POST', '', { ...input, source: '/mnt/maps/', target: '/maps/' })
    expect(body.attributes).toMatchObject({ source: '/mnt/maps', target: '/maps' })
  })

  it('keep apart what a server has: a target is changed unless another mount of the server is there', async () => {
    const server = await makeServer(world)
    const servers = [server.id]
    const mount = await makeMount(world, { servers }, { target: '/one' })
    await makeMount(world, { servers }, { target: '/two' })
    await makeMount(world, {}, { target: '/three' })
    expect(rules(await request('PATCH', `/${mount.id}`, { target: '/two' }))).toEqual(['target: unique'])
    expect((await request('PATCH', `/${mount.id}`, { target: '/three' })).status).toBe(200)
  })

  it('leave nothing behind when they are deleted', async () => {
    const server = await makeServer(world)
    const members = { eggs: [server.eggId], nodes: [server.nodeId], servers: [server.id] }
    const mount = await makeMount(world, members)
    expect((await request('DELETE', `/${mount.id}`)).status).toBe(204)
    for (const table of [eggMount, mountNode, mountServer])
      expect(await world.database.db.select().from(table)).toEqual([])
  })

  it('are recorded by name: admin:mount.create, admin:mount.update and admin:mount.delete', async () => {
    const egg = await makeEgg(world)
    await request('POST', '', input)
    await request('PATCH', '/1', { eggs: [egg.id], read_only: false })
    await request('PATCH', '/1', { eggs: [egg.id] })
    await request('DELETE', '/1')
    expect(await world.database.db.select().from(activity).orderBy(activity.id)).toMatchObject([
      { event: 'admin:mount.create', properties: { name: 'Maps' } },
      { event: 'admin:mount.update', properties: { name: 'Maps', changed: ['read_only', 'eggs'] } },
      { event: 'admin:mount.delete', properties: { name: 'Maps' } },
    ])
    const [subject] = await world.database.db.select().from(activitySubjects)
    expect(subject).toMatchObject({ subjectType: 'mount', subjectId: 1 })
  })
})

describe('AZ-6: mounts of a caller without levels elsewhere', () => {
  it('reach neither eggs nor nodes', async () => {
    const [egg, node] = [await makeEgg(world), await makeNode(world)]
    const asMounter = await tokenWith({ mounts: 3, eggs: 1, nodes: 1 })
    const members = { eggs: [egg.id], nodes: [node.id] }
    const refused = [
      { ...input, eggs: members.eggs },
      { ...input, nodes: members.nodes },
    ]
    for (const body of refused) expect((await request('POST', '', body, asMounter)).status).toBe(403)
    const mount = await makeMount(world, members)
    const change = (body: object) => request('PATCH', `/${mount.id}`, body, asMounter)
    expect((await change({ eggs: [] })).status).toBe(403)
    expect((await change({ nodes: [] })).status).toBe(403)
    expect((await change({ source: '/root' })).status).toBe(403)
    expect((await change({ ...members, name: 'Renamed', target: '/elsewhere' })).status).toBe(200)
    expect((await request('POST', '', input, asMounter)).status).toBe(201)
  })

  it('show only related rows that the caller may read', async () => {
    const server = await makeServer(world)
    const mount = await makeMount(world, { eggs: [server.eggId], servers: [server.id] })
    const asMounter = await tokenWith({ mounts: 1, eggs: 1 })
    const { body } = await request('GET', `/${mount.id}?include=eggs,servers`, undefined, asMounter)
    expect(body.attributes.relationships.eggs.data).toHaveLength(1)
    expect(body.attributes.relationships.servers).toEqual({ object: 'null_resource', attributes: null })
  })
})
