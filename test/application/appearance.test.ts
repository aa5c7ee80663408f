import { beforeEach, describe, expect, it } from 'vitest'
import { logos } from '../../src/db/schema.ts'
import { makeApplicationToken, makeKey, makeUser, fullAcl } from '../support/factories.ts'
import { png } from '../support/pictures.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const path = '/api/application/settings'
const change = (appearance: object) => world.request('PATCH', path, { token, body: { appearance } })
const failureOf = ({ status, body }: { status: number; body: any }) => [
  status,
  body.errors[0].meta.source_field,
  body.errors[0].meta.rule,
]

async function upload(file: Uint8Array, type = 'image/png') {
  const form = new FormData()
  form.set('logo', new File([Uint8Array.from(file)], 'logo', { type }))
  const response = await world.app.fetch(
    new Request(`${panelUrl}${path}/logo`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    }),
  )
  return { status: response.status, body: (await response.json()) as any }
}

const page = async () => {
  const { text, headers } = await world.request('GET', '/auth/login')
  const nonce = /'nonce-([^']+)'/.exec(headers.get('content-security-policy') ?? '')?.[1]
  return { text, nonce }
}

describe('a logo', () => {
  it('is stored by its content, served to guests for ever, and named by the settings', async () => {
    const { status, body } = await upload(png(60, 20))
    expect([status, body.attributes.path]).toEqual([200, `/logos/${body.attributes.name}`])
    expect((await upload(png(60, 20))).body).toEqual(body)
    expect(await world.events()).toEqual(['admin:settings.upload', 'admin:settings.upload'])
    const served = await world.app.fetch(new Request(`${panelUrl}${body.attributes.path}`))
    expect(served.headers.get('content-type')).toBe('image/png')
    expect(served.headers.get('cache-control')).toContain('immutable')
    expect(served.headers.get('content-security-policy')).toContain('sandbox')
    expect(Buffer.from(await served.arrayBuffer())).toEqual(png(60, 20))
    expect((await change({ logo_light: body.attributes.name })).status).toBe(200)
    expect((await page()).text).toContain(`"logo":{"light":"${body.attributes.path}"`)
  })

  it('is refused unless it is a complete PNG, JPEG or WebP of at most 256 KiB', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    expect(failureOf(await upload(svg, 'image/svg+xml'))).toEqual([422, 'logo', 'mimes'])
    expect(failureOf(await upload(png(60, 20).subarray(0, 40)))).toEqual([422, 'logo', 'image'])
    expect(failureOf(await upload(Buffer.alloc(256 * 1024 + 1)))).toEqual([422, 'logo', 'max'])
    expect(await world.database.db.select().from(logos)).toEqual([])
    expect((await world.request('GET', '/logos/none.png')).status).toBe(404)
  })

  it('must have been uploaded before a setting names it, and goes when it is not used for a day', async () => {
    const missing = `${'0'.repeat(32)}.png`
    expect(failureOf(await change({ logo_dark: missing }))).toEqual([422, 'appearance.logo_dark', 'exists'])
    const used = (await upload(png(60, 20))).body.attributes.name
    const unused = (await upload(png(61, 20))).body.attributes.name
    await change({ logo_light: used })
    world.clock.advance(86_400 * 2)
    const newest = (await upload(png(62, 20))).body.attributes.name
    const names = (await world.database.db.select().from(logos)).map(({ name }) => name)
    expect(new Set(names)).toEqual(new Set([used, newest]))
    expect(names).not.toContain(unused)
  })
})

describe('the appearance of pages', () => {
  it('is part of the document: links, and the accent under the nonce of the page', async () => {
    const links = [{ label: 'Imprint', url: 'https://host.example/imprint' }]
    await change({ accent: '#FFCC00', footer_links: links })
    const { text, nonce } = await page()
    expect(text).toContain('"label":"Imprint"')
    expect(text.replaceAll(/\s+/g, '')).toContain(`<stylenonce="${nonce}">:root{--brand:#`)
    const brand = /--brand:#([0-9a-f]{6})/.exec(text)?.[1]
    expect(text).toContain(`%23${brand}`)
    await change({ accent: null, footer_links: null })
    const plain = (await page()).text
    expect(plain).not.toContain('<style')
    expect(plain).not.toContain('Imprint')
  })

  it.each([
    [{ accent: 'red' }, 'appearance.accent', 'regex'],
    [{ accent: '#fff;}body{display:none' }, 'appearance.accent', 'regex'],
    [
      { footer_links: [{ label: 'A', url: 'javascript:alert(1)' }] },
      'appearance.footer_links.0.url',
      'https',
    ],
    [
      { footer_links: [{ label: '', url: 'https://a.example' }] },
      'appearance.footer_links.0.label',
      'required',
    ],
    [{ logo_light: '../secret' }, 'appearance.logo_light', 'regex'],
  ])('refuses %j', async (appearance, field, rule) => {
    expect(failureOf(await change(appearance))).toEqual([422, field, rule])
  })

  it('has no style sheets of administrators', async () => {
    expect((await change({ custom_css: 'body{}' })).status).toBe(422)
  })

  it('shows what both themes make of an accent', async () => {
    const { body } = await world.request('GET', `${path}/accent?accent=%23ffcc00`, { token })
    expect(body.attributes.dark.brand).toBe('#ffcc00')
    expect(body.attributes.light.brand).not.toBe('#ffcc00')
    expect((await world.request('GET', `${path}/accent?accent=gold`, { token })).status).toBe(422)
  })
})

describe('settings', () => {
  it('say their defaults, and who changed which last', async () => {
    const admin = await makeUser(world, { rootAdmin: true, username: 'heron' })
    const own = (await makeKey(world, admin, { type: 'application', acl: fullAcl })).token
    await world.request('PATCH', path, { token: own, body: { trash: { retention_days: 9 } } })
    const { body } = await world.request('GET', path, { token })
    expect(body.meta.defaults.trash).toEqual({ retention_days: 7 })
    expect(body.meta.changes).toEqual([
      {
        key: 'trash.retention_days',
        changed_at: expect.stringMatching(/^20/),
        changed_by: { id: admin.id, username: 'heron' },
      },
    ])
    const reset = await change({})
    await world.request('PATCH', path, { token, body: { trash: { retention_days: null } } })
    const after = (await world.request('GET', path, { token })).body
    expect(after.attributes.trash.retention_days).toBe(7)
    expect(after.meta.changes[0].changed_by.username).not.toBe('heron')
    expect(reset.body.meta.changes).toHaveLength(1)
  })
})
