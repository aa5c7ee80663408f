import { beforeEach, describe, expect, it } from 'vitest'
import { announcementDismissals, announcements } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { type Browser, openSignedInBrowser } from '../support/browser.ts'
import {
  makeAnnouncement,
  makeClientToken,
  makeLocation,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let user: User
let token: string

beforeEach(async () => {
  user = await makeUser(world)
  token = await makeClientToken(world, user)
})

const path = '/api/client/account/announcements'
const shown = async (as = token) => {
  const { status, body } = await world.request('GET', path, { token: as })
  expect(status).toBe(200)
  return body.data.map(({ attributes }: any) => attributes)
}
const titles = async (as = token) => (await shown(as)).map(({ title }: any) => title)
const dismiss = ({ id }: { id: number }, as = token) =>
  world.request('DELETE', `${path}/${id}`, { token: as })
const minutes = (count: number) => new Date(world.clock.now.getTime() + count * 60_000)

/** Reads what the page of the browser begins with. */
async function shownInPage(browser: Browser): Promise<any[] | undefined> {
  const { text } = await browser.request('GET', '/')
  return JSON.parse(/window\.SiteConfiguration = (.*);$/m.exec(text)?.[1] ?? '{}').announcements
}

describe('announcements for everyone', () => {
  it('are shown to every user, the latest first', async () => {
    await makeAnnouncement(world, null, { title: 'Older', startsAt: minutes(-5) })
    const { id } = await makeAnnouncement(world, null, { title: 'Newer', body: '**Now**', level: 'warning' })
    const [first, second] = await shown()
    expect(first).toEqual({
      id,
      title: 'Newer',
      body: '**Now**',
      level: 'warning',
      nodes: null,
      starts_at: expect.stringMatching(/\+00:00$/),
      ends_at: null,
    })
    expect(second.title).toBe('Older')
  })

  it('are shown between their start and their end', async () => {
    await makeAnnouncement(world, null, { title: 'Short', startsAt: minutes(10), endsAt: minutes(20) })
    const start = world.clock.now
    const at = async (count: number) => {
      world.clock.now = new Date(start.getTime() + count * 60_000)
      return titles()
    }
    expect([await at(0), await at(10), await at(19), await at(20)]).toEqual([[], ['Short'], ['Short'], []])
  })

  it('are dismissed for good, by each user for themselves', async () => {
    const announcement = await makeAnnouncement(world, null, { title: 'Read' })
    expect((await dismiss(announcement)).status).toBe(204)
    expect((await dismiss(announcement)).status).toBe(204)
    expect(await titles()).toEqual([])
    await world.database.db.update(announcements).set({ title: 'Changed', updatedAt: minutes(1) })
    expect(await titles()).toEqual([])
    expect(await titles(await makeClientToken(world, await makeUser(world)))).toEqual(['Changed'])
    expect(await world.database.db.select().from(announcementDismissals)).toEqual([
      { userId: user.id, announcementId: announcement.id },
    ])
  })

  it('are at most twenty', async () => {
    for (let count = 0; count < 21; count += 1) await makeAnnouncement(world)
    expect(await shown()).toHaveLength(20)
  })
})

describe('announcements for servers', () => {
  it('are shown to owners and subusers of servers on their nodes, with the names of these, and to no other user', async () => {
    const [node, other] = [await makeNode(world, { name: 'One' }), await makeNode(world, { name: 'Two' })]
    await makeAnnouncement(world, { nodes: [node.id, other.id] }, { title: 'Nodes' })
    expect(await shown()).toEqual([])
    const server = await makeServer(world, { node, ownerId: user.id })
    await makeServer(world, { node, ownerId: user.id })
    expect(await shown()).toMatchObject([{ title: 'Nodes', nodes: ['One'] }])
    const subuser = await makeUser(world)
    const asSubuser = await makeClientToken(world, subuser)
    expect(await shown(asSubuser)).toEqual([])
    await makeSubuser(world, server, subuser, ['websocket.connect'])
    expect(await shown(asSubuser)).toMatchObject([{ title: 'Nodes', nodes: ['One'] }])
    const root = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    expect(await shown(root)).toEqual([])
  })

  it('are shown to those with a server on any node of their locations', async () => {
    const location = await makeLocation(world)
    const node = await makeNode(world, { name: 'One', locationId: location.id })
    await makeAnnouncement(world, { locations: [location.id] }, { title: 'Location' })
    await makeServer(world, { ownerId: user.id })
    expect(await shown()).toEqual([])
    await makeServer(world, { node, ownerId: user.id })
    expect(await shown()).toMatchObject([{ title: 'Location', nodes: ['One'] }])
  })

  it('are shown to no user once their places are gone', async () => {
    await makeServer(world, { ownerId: user.id })
    await makeAnnouncement(world, {})
    expect(await shown()).toEqual([])
  })
})

describe('AZ-1: an announcement that is not shown to the caller', () => {
  it('is not dismissed: 404, as if there were none', async () => {
    const node = await makeNode(world)
    const hidden = [
      await makeAnnouncement(world, { nodes: [node.id] }),
      await makeAnnouncement(world, null, { startsAt: minutes(5) }),
      await makeAnnouncement(world, null, { startsAt: minutes(-5), endsAt: minutes(-1) }),
      { id: 99 },
    ]
    for (const announcement of hidden) expect((await dismiss(announcement)).status).toBe(404)
    expect(await world.database.db.select().from(announcementDismissals)).toEqual([])
  })
})

describe('the page of a signed-in user', () => {
  it('begins with the announcements for them, and without the text of others', async () => {
    const node = await makeNode(world, { name: 'One' })
    await makeServer(world, { node, ownerId: user.id })
    const browser = await openSignedInBrowser(world, user)
    expect(await shownInPage(browser)).toBeUndefined()
    await makeAnnouncement(world, { nodes: [node.id] }, { title: '</script><b>Node</b>' })
    await makeAnnouncement(world, { nodes: [(await makeNode(world)).id] }, { title: 'Elsewhere' })
    expect(await shownInPage(browser)).toMatchObject([{ title: '</script><b>Node</b>', nodes: ['One'] }])
    const guests = await world.request('GET', '/auth/login')
    expect(guests.text).not.toContain('announcements')
  })

  it('has none while an administrator acts for the user, who cannot dismiss any either', async () => {
    const announcement = await makeAnnouncement(world)
    const browser = await openSignedInBrowser(world, await makeUser(world, { rootAdmin: true }))
    expect(await shownInPage(browser)).toHaveLength(1)
    expect((await browser.request('POST', `/api/application/users/${user.id}/act`)).status).toBe(200)
    expect(await shownInPage(browser)).toBeUndefined()
    expect((await browser.request('GET', path)).body.data).toEqual([])
    expect((await browser.request('DELETE', `${path}/${announcement.id}`)).status).toBe(403)
    expect(await titles()).toHaveLength(1)
  })
})
