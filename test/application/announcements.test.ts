import { beforeEach, describe, expect, it } from 'vitest'
import {
  activity,
  activitySubjects,
  announcementDismissals,
  announcementNode,
  announcements,
  users,
} from '../../src/db/schema.ts'
import type { Acl } from '../../src/db/tables/api-keys.ts'
import {
  makeAnnouncement,
  makeApplicationToken,
  makeKey,
  makeLocation,
  makeNode,
  makeRoleHolder,
  makeUser,
} from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const path = '/api/application/announcements'
const request = (method: string, at = '', body?: object, as = token) =>
  world.request(method, `${path}${at}`, { token: as, ...(body ? { body } : {}) })
const rules = (answer: { body: any }) =>
  answer.body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`).toSorted()
const titlesIn = (answer: { body: any }) => answer.body.data.map(({ attributes }: any) => attributes.title)
const idsOf = ({ body }: { body: any }, name: string) =>
  body.attributes.relationships[name].data.map(({ attributes }: any) => attributes.id)
const tokenWith = async (acl: Acl) => {
  const holder = await makeRoleHolder(world, acl)
  return (await makeKey(world, holder, { type: 'application', acl })).token
}
const at = (minutes: number) => new Date(world.clock.now.getTime() + minutes * 60_000)

describe('announcements', () => {
  it('are added, shown, changed and removed', async () => {
    const input = { title: 'Maintenance', body: '**Soon**', level: 'maintenance' }
    const added = await request('POST', '', input)
    expect(added).toMatchObject({
      status: 201,
      body: {
        object: 'announcement',
        attributes: { id: 1, ...input, audience: 'everyone', ends_at: null, author_id: expect.any(Number) },
        meta: { resource: 'http://panel.test/api/application/announcements/1' },
      },
    })
    const { starts_at: startsAt } = added.body.attributes
    expect(Math.abs(Date.parse(startsAt) - world.clock.now.getTime())).toBeLessThan(1000)
    const changed = await request('PATCH', '/1', { level: 'info', ends_at: '2099-01-01T12:00:00+02:00' })
    expect(changed.body.attributes).toMatchObject({
      ...input,
      level: 'info',
      starts_at: startsAt,
      ends_at: '2099-01-01T10:00:00+00:00',
    })
    expect((await request('GET', '/1')).body).toEqual(changed.body)
    expect((await request('PATCH', '/1', { ends_at: null, body: null })).body.attributes).toMatchObject({
      ends_at: null,
      body: '',
    })
    expect((await request('DELETE', '/1')).status).toBe(204)
    for (const method of ['GET', 'DELETE']) expect((await request(method, '/1')).status).toBe(404)
    expect((await request('PATCH', '/1', { title: 7 })).status).toBe(404)
  })

  it('replace their locations and nodes, keep lists that are not sent, and lose them for everyone', async () => {
    const [node, other] = [await makeNode(world), await makeNode(world)]
    const location = await makeLocation(world)
    const added = await request('POST', '?include=author,locations,nodes', {
      title: 'Move',
      audience: 'servers',
      locations: [location.id],
      nodes: [other.id, node.id, node.id],
    })
    expect([idsOf(added, 'locations'), idsOf(added, 'nodes')]).toEqual([[location.id], [node.id, other.id]])
    expect(added.body.attributes.relationships.author.attributes.id).toBe(added.body.attributes.author_id)
    const changed = await request('PATCH', '/1?include=locations,nodes', { nodes: [other.id] })
    expect([idsOf(changed, 'locations'), idsOf(changed, 'nodes')]).toEqual([[location.id], [other.id]])
    expect(rules(await request('PATCH', '/1', { nodes: [99] }))).toEqual(['nodes: exists'])
    expect(rules(await request('PATCH', '/1', { locations: [99] }))).toEqual(['locations: exists'])
    const forAll = await request('PATCH', '/1?include=locations,nodes', { audience: 'everyone' })
    expect([idsOf(forAll, 'locations'), idsOf(forAll, 'nodes')]).toEqual([[], []])
  })

  it('need places for the audience servers, and an end after the start', async () => {
    const node = await makeNode(world)
    const refused = ['nodes: required_unless']
    expect(rules(await request('POST', '', { title: 'A', audience: 'servers' }))).toEqual(refused)
    await request('POST', '', { title: 'A', audience: 'servers', nodes: [node.id] })
    expect(rules(await request('PATCH', '/2', { nodes: [] }))).toEqual(refused)
    const times = { starts_at: at(10).toISOString(), ends_at: at(5).toISOString() }
    expect(rules(await request('POST', '', { title: 'A', ...times }))).toEqual(['ends_at: after'])
    expect(rules(await request('PATCH', '/2', { ends_at: at(-5).toISOString() }))).toEqual(['ends_at: after'])
    for (const time of ['tomorrow', '0000-01-01T00:00:00Z', '2026-02-30T00:00:00Z'])
      expect(rules(await request('PATCH', '/2', { starts_at: time }))).toEqual(['starts_at: date'])
    expect(await world.database.db.select().from(announcements)).toHaveLength(1)
  })

  it('are found by state, level, place and title, and sorted by their times', async () => {
    const node = await makeNode(world)
    const places = { nodes: [node.id], locations: [node.locationId] }
    await makeAnnouncement(world, null, { title: 'Now', level: 'warning' })
    await makeAnnouncement(world, places, { title: 'Later', startsAt: at(60) })
    await makeAnnouncement(world, null, { title: 'Over', startsAt: at(-60), endsAt: at(-30) })
    const list = async (query: string) => titlesIn(await request('GET', `?${query}`))
    expect(await list('sort=-starts_at')).toEqual(['Later', 'Now', 'Over'])
    expect(await list('filter[state]=active')).toEqual(['Now'])
    expect(await list('filter[state]=scheduled,ended&sort=id')).toEqual(['Later', 'Over'])
    expect(await list('filter[state]=nonsense')).toEqual([])
    expect(await list('filter[level]=warning')).toEqual(['Now'])
    expect(await list(`filter[node_id]=${node.id}`)).toEqual(['Later'])
    expect(await list(`filter[location_id]=${node.locationId}`)).toEqual(['Later'])
    expect(await list('filter[title]=ate')).toEqual(['Later'])
  })

  it('are deleted with who dismissed them, and outlive their author and their nodes', async () => {
    const { db } = world.database
    const [author, reader] = [await makeUser(world), await makeUser(world)]
    const node = await makeNode(world)
    const kept = await makeAnnouncement(world, { nodes: [node.id] }, { authorId: author.id })
    const deleted = await makeAnnouncement(world)
    for (const { id: announcementId } of [kept, deleted])
      await db.insert(announcementDismissals).values({ userId: reader.id, announcementId })
    await request('DELETE', `/${deleted.id}`)
    expect(await db.select().from(announcementDismissals)).toHaveLength(1)
    await world.request('DELETE', `/api/application/nodes/${node.id}`, { token })
    await world.request('DELETE', `/api/application/users/${author.id}`, { token })
    await world.request('DELETE', `/api/application/users/${reader.id}`, { token })
    expect(await db.select({ id: users.id }).from(users)).toHaveLength(1)
    for (const table of [announcementDismissals, announcementNode])
      expect(await db.select().from(table)).toEqual([])
    expect((await request('GET', `/${kept.id}`)).body.attributes).toMatchObject({
      audience: 'servers',
      author_id: null,
    })
  })

  it('are recorded: admin:announcement.create, admin:announcement.update, admin:announcement.delete', async () => {
    await request('POST', '', { title: 'Maintenance' })
    await request('PATCH', '/1', { ends_at: '2099-01-01T00:00:00Z', body: 'Soon' })
    await request('PATCH', '/1', { body: 'Soon' })
    await request('DELETE', '/1')
    const properties = { title: 'Maintenance' }
    expect(await world.database.db.select().from(activity).orderBy(activity.id)).toMatchObject([
      { event: 'admin:announcement.create', properties },
      { event: 'admin:announcement.update', properties: { ...properties, changed: ['body', 'ends_at'] } },
      { event: 'admin:announcement.delete', properties },
    ])
    const [subject] = await world.database.db.select().from(activitySubjects)
    expect(subject).toMatchObject({ subjectType: 'announcement', subjectId: 1 })
  })
})

describe('AZ-6: announcements of a caller without levels elsewhere', () => {
  it('name no locations and nodes, and show neither them nor their author', async () => {
    const node = await makeNode(world)
    const asWriter = await tokenWith({ announcements: 3 })
    const input = { title: 'A', audience: 'servers' }
    const write = (places: object) => request('POST', '', { ...input, ...places }, asWriter)
    expect((await write({ nodes: [node.id] })).status).toBe(403)
    expect((await write({ locations: [node.locationId] })).status).toBe(403)
    const { id } = await makeAnnouncement(world, { nodes: [node.id] })
    const answer = await request('PATCH', `/${id}?include=author,nodes`, { title: 'B' }, asWriter)
    expect([answer.status, answer.body.attributes.title]).toEqual([200, 'B'])
    const { author, nodes } = answer.body.attributes.relationships
    for (const relation of [author, nodes])
      expect(relation).toEqual({ object: 'null_resource', attributes: null })
  })

  it('are read by who may read them alone, and written by who may write them', async () => {
    const { id } = await makeAnnouncement(world)
    const [none, reader] = [await tokenWith({ settings: 3 }), await tokenWith({ announcements: 1 })]
    expect((await request('GET', `/${id}`, undefined, none)).status).toBe(403)
    expect((await request('GET', `/${id}`, undefined, reader)).status).toBe(200)
    expect((await request('DELETE', `/${id}`, undefined, reader)).status).toBe(403)
  })
})
