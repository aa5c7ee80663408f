import { beforeEach, describe, expect, it } from 'vitest'
import { openBrowser } from '../support/browser.ts'
import { makeApplicationToken, makeClientToken, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const change = (panel: object) =>
  world.request('PATCH', '/api/application/settings', { token, body: { panel } })
const titleOf = async () => {
  const browser = await openBrowser(world)
  return /"name":"([^"]*)"/.exec((await browser.request('GET', '/auth/login')).text)?.[1]
}

describe('the identity of the panel', () => {
  it('is that of the environment, until a setting says otherwise', async () => {
    expect(await titleOf()).toBe('Roost')
    expect((await change({ name: 'Castle Hosting' })).status).toBe(200)
    expect(await titleOf()).toBe('Castle Hosting')
    await change({ name: null })
    expect(await titleOf()).toBe('Roost')
  })

  it('names the panel in authenticator apps', async () => {
    await change({ name: 'Castle Hosting' })
    const user = await makeClientToken(world, await makeUser(world))
    const { body } = await world.request('GET', '/api/client/account/two-factor', { token: user })
    expect(body.data.image_url_data).toContain('issuer=CastleHosting')
  })

  it('gives schedules their time zone, and accounts their language', async () => {
    await change({ timezone: 'Europe/Berlin', language: 'de' })
    const owner = await makeUser(world)
    const server = await makeServer(world, { owner })
    const cron = { minute: '0', hour: '4', day_of_month: '*', month: '*', day_of_week: '*' }
    const schedule = await world.request('POST', `/api/client/servers/${server.uuid}/schedules`, {
      token: await makeClientToken(world, owner),
      body: { name: 'Nightly', ...cron },
    })
    expect(schedule.body.attributes.timezone).toBe('Europe/Berlin')
    const create = (body: object) =>
      world.request('POST', '/api/application/users', {
        token,
        body: { first_name: 'A', last_name: 'B', password: 'a long password', ...body },
      })
    const silent = await create({ username: 'one', email: 'one@example.test' })
    const french = await create({ username: 'two', email: 'two@example.test', language: 'fr' })
    expect([silent, french].map(({ body }) => body.attributes.language)).toEqual(['de', 'fr'])
  })

  it.each([
    [{ name: 'a\nb' }, 'panel.name: regex'],
    [{ timezone: 'Mars/Olympus' }, 'panel.timezone: timezone'],
    [{ language: 'tlh' }, 'panel.language: in'],
  ])('refuses %j', async (panel, expected) => {
    const { status, body } = await change(panel)
    expect(status).toBe(422)
    expect(body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`)).toEqual([expected])
  })
})
