import { beforeEach, describe, expect, it } from 'vitest'
import { publicFetch } from '../../src/adapters/public-fetch.ts'
import { activity, eggs } from '../../src/db/schema.ts'
import { type Document, pterodactyl, variable } from '../domain/egg-documents.ts'
import { fullAcl, makeApplicationToken, makeKey, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string
let nest: number

beforeEach(async () => {
  token = await makeApplicationToken(world)
  const { body } = await world.request('POST', '/api/application/nests', { token, body: { name: 'Games' } })
  nest = body.attributes.id
})

const send = (path: string, body: unknown, key = token) =>
  world.request('POST', `/api/application${path}`, { token: key, body })
const importEgg = (document: unknown, query = '') => send(`/nests/${nest}/eggs/import${query}`, document)
const preview = (document: unknown, query = '', key = token) =>
  send(`/nests/${nest}/eggs/import/preview${query}`, document, key)
const named = (changes: Document) => ({ ...variable, ...changes })
const withoutSource = { version: 'PTDL_v2', update_url: null }
const url = 'https://eggs.example.com/basalt.json'

/** Lets addresses answer with texts by their path. */
function serveTexts(texts: Record<string, string>) {
  const sendGet = async ({ pathname }: URL) =>
    new Response(texts[pathname] ?? 'none', { status: pathname in texts ? 200 : 404 })
  Object.assign(world.services, { publicFetch: publicFetch(sendGet) })
}

describe('fetching an egg from a URL', () => {
  const fetchEgg = (address: string) => send('/eggs/fetch', { url: address })

  it('answers with the document, which gets the URL for its updates', async () => {
    serveTexts({ '/basalt.json': JSON.stringify(pterodactyl({ name: 'Basalt', meta: withoutSource })) })
    const { status, body } = await fetchEgg(url)
    expect([status, body.name, body.meta.update_url]).toEqual([200, 'Basalt', url])
    expect(await world.database.db.select().from(eggs)).toEqual([])
    expect(await world.events()).toContain('admin:egg.fetch')
  })

  it('keeps the update URL that the document has, and stores no query', async () => {
    const own = pterodactyl({ meta: { version: 'PTDL_v2', update_url: 'https://eggs.example.com/own' } })
    serveTexts({
      '/own.json': JSON.stringify(own),
      '/basalt.json': JSON.stringify(pterodactyl({ meta: withoutSource })),
    })
    expect((await fetchEgg('https://eggs.example.com/own.json')).body.meta.update_url).toBe(
      'https://eggs.example.com/own',
    )
    expect((await fetchEgg(`${url}?token=secret`)).body.meta.update_url).toBeNull()
    const entries = await world.database.db.select().from(activity)
    expect(JSON.stringify(entries.map(({ properties }) => properties))).not.toContain('secret')
  })

  it('reads YAML, and names every fault', async () => {
    const yaml = 'meta:\n  version: PTDL_v2\nname: Basalt\n'
    serveTexts({ '/basalt.yaml': yaml, '/broken.json': '{', '/page.html': '<html></html>' })
    const refused = await fetchEgg('https://eggs.example.com/basalt.yaml')
    expect(refused.status).toBe(422)
    expect(refused.body.errors.length).toBeGreaterThan(1)
    expect((await fetchEgg('https://eggs.example.com/broken.json')).status).toBe(422)
    expect((await fetchEgg('https://eggs.example.com/page.html')).status).toBe(422)
  })

  it('says by reasons what is wrong with a document', async () => {
    serveTexts({ '/broken.json': '{', '/twice.yaml': 'name: a\nname: b' })
    const errorsFor = async (path: string) => (await fetchEgg(`https://eggs.example.com${path}`)).body.errors
    const meta = { source_field: '', rule: 'egg_format' }
    expect(await errorsFor('/broken.json')).toMatchObject([
      { detail: 'The document is not valid JSON.', meta: { ...meta, reason: 'egg_not_json' } },
    ])
    expect(await errorsFor('/twice.yaml')).toMatchObject([
      {
        detail: 'The document is not YAML: Map keys must be unique at line 2, column 1.',
        meta: {
          ...meta,
          reason: 'egg_not_yaml_at',
          values: { problem: 'Map keys must be unique', line: 2, column: 1 },
        },
      },
    ])
  })

  it.each([
    ['https://169.254.169.254/meta-data', 'address_not_public', { host: '169.254.169.254' }],
    ['https://localhost/egg.json', 'address_not_public', { host: 'localhost' }],
    ['http://eggs.example.com/egg.json', 'address_not_https', undefined],
    ['https://eggs.example.com/none.json', 'address_status', { status: 404 }],
    ['no address', 'https_url_required', undefined],
  ])('is refused beside its field for %s', async (address, reason, values) => {
    serveTexts({})
    const { status, body } = await fetchEgg(address)
    const { meta } = body.errors[0]
    expect([status, meta.source_field, meta.reason, meta.values]).toEqual([422, 'url', reason, values])
  })
})

describe('the preview of an import', () => {
  it('says of a new egg that it is new', async () => {
    const { body } = await preview(pterodactyl({ name: 'Basalt' }))
    expect(body.attributes).toMatchObject({ state: 'new', name: 'Basalt', egg: null })
    expect(await world.database.db.select().from(eggs)).toEqual([])
  })

  it('names the fields, the variables and the servers that would change', async () => {
    const variables = [
      named({ env_variable: 'KEPT' }),
      named({ env_variable: 'OLD' }),
      named({ env_variable: 'MOTD', default_value: 'Hello' }),
    ]
    const imported = await importEgg(pterodactyl({ name: 'Basalt', variables, startup: 'first' }))
    const egg = imported.body.attributes
    const server = await makeServer(world, { eggId: egg.id, name: 'survival' })
    const after = [
      named({ env_variable: 'KEPT' }),
      named({ env_variable: 'MOTD', default_value: 'Welcome' }),
      named({ env_variable: 'NEW' }),
    ]
    const changed = pterodactyl({ name: 'Basalt', variables: after, startup: 'second' })
    const { status, body } = await preview(changed)
    expect(status).toBe(200)
    expect(body.attributes).toMatchObject({
      state: 'updated',
      egg: { id: egg.id, matched_by: 'name', has_other_origin: false },
      fields: [{ field: 'startup', before: 'first', after: 'second' }],
      servers: { total: 1, first: [{ id: server.id, name: 'survival' }] },
    })
    expect(
      body.attributes.variables.map(({ env_variable, state, fields }: any) => [
        env_variable,
        state,
        fields.map(({ field }: any) => field),
      ]),
    ).toEqual([
      ['OLD', 'removed', expect.arrayContaining(['name', 'default_value'])],
      ['MOTD', 'changed', ['default_value']],
      ['NEW', 'added', expect.arrayContaining(['name', 'rules'])],
    ])
    await importEgg(changed)
    expect((await preview(changed)).body.attributes).toMatchObject({ state: 'unchanged', fields: [] })
  })

  it('does not name servers to a caller who may not read them', async () => {
    const { body } = await importEgg(pterodactyl())
    await makeServer(world, { eggId: body.attributes.id })
    const admin = await makeUser(world, { rootAdmin: true })
    const acl = { ...fullAcl, servers: 0 as const }
    const limited = await makeKey(world, admin, { type: 'application', acl })
    const { attributes } = (await preview(pterodactyl({ startup: 'x' }), '', limited.token)).body
    expect(attributes.servers).toEqual({ total: 1, first: [] })
  })

  it('finds an egg that was renamed by its update URL, which an import takes only when it is named', async () => {
    const from = (name: string) => pterodactyl({ name, meta: { version: 'PTDL_v2', update_url: url } })
    const { body } = await importEgg(from('Basalt'))
    const { id } = body.attributes
    const { attributes } = (await preview(from('Basalt 2'))).body
    expect(attributes).toMatchObject({ state: 'updated', egg: { id, matched_by: 'update_url' } })
    const replaced = await importEgg(from('Basalt 2'), `?egg=${id}&checksum=${attributes.egg.checksum}`)
    expect(replaced.body).toMatchObject({ attributes: { id, name: 'Basalt 2' }, meta: { state: 'updated' } })
    expect((await importEgg(from('Basalt 3'))).body.meta.state).toBe('new')
  })

  it('is not applied to an egg that has changed since', async () => {
    const { id } = (await importEgg(pterodactyl())).body.attributes
    const { egg } = (await preview(pterodactyl({ startup: 'theirs' }))).body.attributes
    const query = `?egg=${id}&checksum=${egg.checksum}`
    await world.request('PATCH', `/api/application/nests/${nest}/eggs/${id}`, {
      token,
      body: { startup: 'mine' },
    })
    expect((await importEgg(pterodactyl({ startup: 'theirs' }), query)).status).toBe(409)
    const [stored] = await world.database.db.select().from(eggs)
    expect(stored?.startup).toBe('mine')
    expect((await preview(pterodactyl(), '?egg=99999')).status).toBe(404)
    expect((await importEgg(pterodactyl(), '?egg=99999')).status).toBe(404)
  })
})

describe('duplicating an egg', () => {
  it('copies everything but its uuid and its update URL', async () => {
    const document = pterodactyl({
      meta: { version: 'PTDL_v2', update_url: url },
      variables: [named({ env_variable: 'MOTD' })],
    })
    const { id, uuid } = (await importEgg(document)).body.attributes
    const { status, body } = await send(`/nests/${nest}/eggs/${id}/duplicate`, { name: 'Another' })
    expect(status).toBe(201)
    expect(body.attributes).toMatchObject({ name: 'Another', nest, update_url: null })
    expect(body.attributes.uuid).not.toBe(uuid)
    const exportOf = async (egg: number) => {
      const path = `/api/application/nests/${nest}/eggs/${egg}/export`
      const {
        name: _n,
        meta: _m,
        exported_at: _e,
        ...rest
      } = (await world.request('GET', path, { token })).body
      return rest
    }
    expect(await exportOf(body.attributes.id)).toEqual(await exportOf(id))
    expect(await world.events()).toContain('admin:egg.create')
  })

  it('is refused without a name, and for an egg of another nest', async () => {
    const { id } = (await importEgg(pterodactyl())).body.attributes
    expect((await send(`/nests/${nest}/eggs/${id}/duplicate`, {})).status).toBe(422)
    expect((await send(`/nests/${nest + 1000}/eggs/${id}/duplicate`, { name: 'A' })).status).toBe(404)
  })
})
