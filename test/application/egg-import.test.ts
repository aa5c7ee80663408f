import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { seedEggs } from '../../drizzle/seed.ts'
import { eggs, eggVariables, nests } from '../../src/db/schema.ts'
import { pelican, pterodactyl, variable } from '../domain/egg-documents.ts'
import { makeApplicationToken } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string
let nest: number

beforeEach(async () => {
  token = await makeApplicationToken(world)
  const { body } = await world.request('POST', '/api/application/nests', { token, body: { name: 'Games' } })
  nest = body.attributes.id
})

const importPath = (query = '') => `/api/application/nests/${nest}/eggs/import${query}`
const importEgg = (document: unknown, query = '') =>
  world.request('POST', importPath(query), { token, body: document })
const importYaml = (text: string, contentType = 'application/yaml') =>
  world.request('POST', importPath(), { token, raw: text, headers: { 'content-type': contentType } })
const exportEgg = async (id: number) =>
  (await world.request('GET', `/api/application/nests/${nest}/eggs/${id}/export`, { token })).body
const storedEggs = () => world.database.db.select().from(eggs).orderBy(eggs.id)
const faults = (answer: { body: any }) => answer.body.errors.map(({ detail }: any) => String(detail)).join()

/** An egg as Pelican exports it: Symfony writes empty lists as `{  }`. */
const pelicanYaml = `_comment: 'DO NOT EDIT: FILE GENERATED AUTOMATICALLY BY PANEL'
meta:
  version: PLCN_v3
  update_url: 'https://eggs.example/basalt.yaml'
exported_at: '2031-01-01T00:00:00+00:00'
name: Basalt
author: maker@eggs.example
uuid: 150956be-4164-4086-9057-631ae95505e9
description: 'A server of blocks.'
icon: 'data:image/png;base64,AAAA'
tags:
  - blocks
features: {  }
docker_images:
  'Java 21': 'ghcr.io/acme/java:21'
  'Java 17': 'ghcr.io/acme/java:17'
file_denylist: {  }
startup_commands:
  Default: 'java -jar {{SERVER_JARFILE}}'
  Debug: 'java -Xdebug -jar {{SERVER_JARFILE}}'
config:
  files:
    server.properties:
      parser: properties
      find:
        server-port: '{{server.allocations.default.port}}'
  startup:
    userInteraction: {  }
    done: ')! For help, type '
  logs: {  }
  stop: stop
scripts:
  installation:
    script: |-
      #!/bin/ash
      echo "yes: no"
    container: 'ghcr.io/acme/installers:alpine'
    entrypoint: ash
variables:
  -
    name: 'Jar File'
    description: ''
    env_variable: SERVER_JARFILE
    default_value: server.jar
    user_viewable: true
    user_editable: true
    rules:
      - required
      - 'regex:/^[\\w.-]+\\.jar$/'
    sort: 2
  -
    name: 'World'
    description: ''
    env_variable: WORLD
    default_value: 25
    user_viewable: true
    user_editable: false
    rules: {  }
    sort: 1
`

describe('importing an egg over an existing one of other origin', () => {
  type Origin = readonly [updateUrl: string | null, author: string]
  const from = ([updateUrl, author]: Origin, startup: string) =>
    pterodactyl({ meta: { version: 'PTDL_v2', update_url: updateUrl }, author, startup })

  it.each<[string, Origin, Origin]>([
    [
      'another update URL',
      ['https://a.example/egg', 'me@a.example'],
      ['https://b.example/egg', 'me@a.example'],
    ],
    ['no update URL and another author', [null, 'me@a.example'], [null, 'me@b.example']],
    [
      'an update URL, another author and none',
      [null, 'me@a.example'],
      ['https://b.example/egg', 'me@b.example'],
    ],
  ])('is refused with 409 for %s, unless replace is set', async (_name, before, after) => {
    expect((await importEgg(from(before, 'first'))).body.meta.state).toBe('new')
    const refused = await importEgg(from(after, 'second'))
    expect([refused.status, refused.body.errors[0].code]).toEqual([409, 'ConflictHttpException'])
    expect(faults(refused)).toContain(before[0] ?? before[1])
    expect((await importEgg(from(after, 'second'), '?replace=false')).status).toBe(409)
    expect((await storedEggs()).map(({ startup }) => startup)).toEqual(['first'])
    const replaced = await importEgg(from(after, 'second'), '?replace=true')
    expect([replaced.status, replaced.body.meta.state]).toEqual([200, 'updated'])
    expect((await storedEggs()).map(({ startup, author }) => [startup, author])).toEqual([
      ['second', after[1]],
    ])
    expect(await exportEgg(replaced.body.attributes.id)).not.toHaveProperty('replace')
    // The egg has the origin of its new document from now on.
    expect((await importEgg(from(after, 'third'))).status).toBe(200)
    expect((await importEgg(from(before, 'fourth'))).status).toBe(409)
  })

  it.each<[string, Origin, Origin]>([
    [
      'the same update URL',
      ['https://a.example/egg', 'me@a.example'],
      ['https://a.example/egg', 'me@b.example'],
    ],
    [
      'the same author and a first update URL',
      [null, 'me@a.example'],
      ['https://a.example/egg', 'Me@A.example'],
    ],
  ])('does not concern %s', async (_name, before, after) => {
    await importEgg(from(before, 'first'))
    expect((await importEgg(from(after, 'second'))).status).toBe(200)
    expect((await storedEggs()).map(({ startup, author }) => [startup, author])).toEqual([
      ['second', before[1]],
    ])
  })

  it('is refused for the uuid of another egg, too, and a replace that is no boolean with 422', async () => {
    await importEgg(pelican())
    expect((await importEgg(pelican({ name: 'Other', author: 'you@b.example' }))).status).toBe(409)
    expect((await importEgg(pelican(), '?replace=perhaps')).status).toBe(422)
    expect(await storedEggs()).toHaveLength(1)
  })
})

describe('eggs of Pelican in YAML', () => {
  it('are imported by application/yaml, with empty lists as PHP writes them', async () => {
    const { status, body } = await importYaml(pelicanYaml)
    expect(status).toBe(200)
    expect(body.meta.state).toBe('new')
    expect(body.attributes).toMatchObject({
      uuid: '150956be-4164-4086-9057-631ae95505e9',
      name: 'Basalt',
      docker_image: 'ghcr.io/acme/java:21',
      startup: 'java -jar {{SERVER_JARFILE}}',
      features: [],
      update_url: 'https://eggs.example/basalt.yaml',
      config: { stop: 'stop', file_denylist: [], startup: { done: ')! For help, type ' } },
      script: { install: '#!/bin/ash\necho "yes: no"', container: 'ghcr.io/acme/installers:alpine' },
    })
    const rows = await world.database.db.select().from(eggVariables).orderBy(eggVariables.id)
    expect(rows.map(({ envVariable, rules, defaultValue }) => [envVariable, rules, defaultValue])).toEqual([
      ['WORLD', '', '25'],
      ['SERVER_JARFILE', 'required|regex:/^[\\w.-]+\\.jar$/', 'server.jar'],
    ])
    for (const type of ['application/x-yaml', 'text/yaml; charset=utf-8'])
      expect((await importYaml(pelicanYaml, type)).body.meta.state).toBe('updated')
  })

  it('that are hostile or no YAML are refused with the place, and change nothing', async () => {
    const cases: [text: string, detail: string][] = [
      ['a: [1, 2', 'line'],
      ['name: a\nname: b', 'line 2'],
      ['a: *unknown', 'alias'],
      ['a: !!js/function x', 'tag'],
      ['a: 1\n---\nb: 2', 'one YAML document'],
      ['['.repeat(900_000), '5000 members'],
      ['- '.repeat(20_000), '32 levels'],
      ['&a [*a]', '32 levels'],
      ['__proto__: {admin: true}', 'forbidden'],
      ['a: "\\0"', 'NUL'],
      [`a: &a ${'x'.repeat(900_000)}\nb: [*a, *a]`, '1 MiB'],
      [`a: &a [x]\nb: [${'*a, '.repeat(60)}]`, 'alias'],
      ['', 'meta.version'],
    ]
    for (const [text, detail] of cases) {
      const answer = await importYaml(text)
      expect(answer.status, text.slice(0, 50)).toBe(422)
      expect(faults(answer), text.slice(0, 50)).toContain(detail)
    }
    expect((await importYaml(`${pelicanYaml}# ${'x'.repeat(1024 * 1024)}`)).status).toBe(413)
    expect((await importYaml('plain text')).status).toBe(400)
    expect((await importYaml(pelicanYaml, 'application/json')).status).toBe(400)
    expect(await storedEggs()).toEqual([])
  })
})

describe('the export of an imported egg', () => {
  const document = pterodactyl({
    author_url: 'https://maker.example',
    config: {
      stop: 'stop',
      logs: '{}',
      startup: '{"userInteraction": [], "strip_ansi": true, "done": ["up", "ready"], "extra": 1}',
      files:
        '{"b.toml": {"parser": "toml", "find": {"a": "b"}}, "a.yml": {"find": {"z": "1", "a": "2"}, "parser": "yaml", "note": "x"}}',
    },
    variables: [
      { ...variable, env_variable: 'ZEBRA', field_type: 'select', options: ['a', 'b'] },
      { ...variable, env_variable: 'APE' },
    ],
  })

  it('has every key that was read in its order: unknown ones, userInteraction, files that daemons cannot write', async () => {
    const { body } = await importEgg({ kind: 'egg', ...document })
    const exported = await exportEgg(body.attributes.id)
    const withParsedTexts = ({ config, ...rest }: any) => {
      const { files, startup, logs, ...others } = config
      return {
        ...rest,
        config: { ...others, parsed: [files, startup, logs].map((text) => JSON.parse(text)) },
      }
    }
    const expected = { kind: 'egg', ...document, file_denylist: ['*.key'] }
    const { _comment, exported_at } = exported
    expect(JSON.stringify(withParsedTexts(exported))).toBe(
      JSON.stringify(withParsedTexts({ ...expected, _comment, exported_at })),
    )
    expect(Object.keys(exported)).toEqual(Object.keys(expected))
  })

  it('of YAML keeps tags, icon and all startup commands, and is imported again to the same', async () => {
    const { body } = await importYaml(pelicanYaml)
    const { id } = body.attributes
    const exported = await exportEgg(id)
    expect(exported).toMatchObject({
      meta: { version: 'PTDL_v2' },
      tags: ['blocks'],
      icon: 'data:image/png;base64,AAAA',
      uuid: '150956be-4164-4086-9057-631ae95505e9',
      startup_commands: {
        Default: 'java -jar {{SERVER_JARFILE}}',
        Debug: 'java -Xdebug -jar {{SERVER_JARFILE}}',
      },
    })
    expect(JSON.parse(exported.config.startup)).toEqual({ userInteraction: {}, done: ')! For help, type ' })
    expect(exported.variables.map((each: any) => [each.env_variable, each.sort])).toEqual([
      ['WORLD', 1],
      ['SERVER_JARFILE', 2],
    ])
    expect((await importEgg(exported)).body.meta.state).toBe('updated')
    expect({ ...(await exportEgg(id)), exported_at: '' }).toEqual({ ...exported, exported_at: '' })
  })

  it('has the changes that were made since, and the order of the newest import', async () => {
    const { body } = await importYaml(pelicanYaml)
    const { id } = body.attributes
    const path = `/api/application/nests/${nest}/eggs/${id}`
    await world.request('PATCH', path, {
      token,
      body: { startup: 'java -version', docker_images: { New: 'ghcr.io/acme/new:1' }, config_files: {} },
    })
    await world.request('POST', `${path}/variables`, { token, body: { name: 'x', env_variable: 'ADDED' } })
    const exported = await exportEgg(id)
    expect(exported).toMatchObject({
      startup: 'java -version',
      startup_commands: { Default: 'java -version' },
    })
    expect([exported.docker_images, JSON.parse(exported.config.files)]).toEqual([
      { New: 'ghcr.io/acme/new:1' },
      {},
    ])
    expect(exported.variables.map((each: any) => each.env_variable)).toEqual([
      'WORLD',
      'SERVER_JARFILE',
      'ADDED',
    ])
    await importYaml(pelicanYaml.replace('sort: 2', 'sort: 0'))
    const again = await exportEgg(id)
    expect(again.variables.map((each: any) => each.env_variable)).toEqual(['SERVER_JARFILE', 'WORLD'])
  })
})

describe('seed', () => {
  const seed = (options = {}) => seedEggs(world.panel, options)
  const paper = async () => {
    const [egg] = await world.database.db.select().from(eggs).where(eq(eggs.name, 'Paper'))
    if (!egg) throw new Error('Paper is not seeded.')
    return egg
  }
  const edit = (path: string, body: object) =>
    world.request('PATCH', `/api/application/nests/${path}`, { token, body })

  it('keeps eggs that were edited, and lists them', async () => {
    expect(await seed()).toEqual({ kept: [] })
    expect(await seed()).toEqual({ kept: [] })
    const { id, nestId, startup } = await paper()
    expect((await edit(`${nestId}/eggs/${id}`, { startup: 'my own' })).status).toBe(200)
    expect(await seed()).toEqual({ kept: [{ id, name: 'Paper', nest: 'Minecraft' }] })
    expect((await paper()).startup).toBe('my own')
    expect(await seed({ replacesEdited: true })).toEqual({ kept: [] })
    expect((await paper()).startup).toBe(startup)
    const [row] = await world.database.db.select().from(eggVariables).where(eq(eggVariables.eggId, id))
    await edit(`${nestId}/eggs/${id}/variables/${row?.id}`, { default_value: 'mine' })
    expect((await seed()).kept).toHaveLength(1)
  })

  it('updates an egg that an earlier version wrote', async () => {
    await seed()
    const { id } = await paper()
    const older = { ...(await paper()), startup: 'of an earlier version' }
    const { seedEgg } = await import('../../src/domain/eggs/shipped.ts')
    const [row] = await world.database.db.select().from(nests).where(eq(nests.id, older.nestId))
    const document = await world.request('GET', `/api/application/nests/${older.nestId}/eggs/${id}/export`, {
      token,
    })
    if (!row) throw new Error('There is no nest.')
    const earlier = { ...document.body, startup: older.startup }
    expect(
      (await seedEgg(world.panel, row, earlier, { replacesEdited: false, earlierChecksums: [] })).isKept,
    ).toBe(false)
    expect((await paper()).startup).toBe(older.startup)
    expect(await seed()).toEqual({ kept: [] })
    expect((await paper()).startup).not.toBe(older.startup)
  })

  it('updates eggs of version 0.1.0, which stored no checksum', async () => {
    await seed()
    const [demo] = await world.database.db.select().from(eggs).where(eq(eggs.name, 'Demo'))
    if (!demo) throw new Error('Demo is not seeded.')
    // What 0.1.0 wrote had no features.
    const asBefore = { features: null, seededChecksum: null }
    await world.database.db.update(eggs).set(asBefore).where(eq(eggs.id, demo.id))
    expect(await seed()).toEqual({ kept: [] })
    const [updated] = await world.database.db.select().from(eggs).where(eq(eggs.id, demo.id))
    expect(updated?.features).toEqual(demo.features)
    await world.database.db
      .update(eggs)
      .set({ ...asBefore, startup: 'edited' })
      .where(eq(eggs.id, demo.id))
    expect((await seed()).kept).toHaveLength(1)
  })

  it('keeps an egg of the same name that an administrator imported', async () => {
    const { body } = await world.request('POST', '/api/application/nests', {
      token,
      body: { name: 'Minecraft' },
    })
    nest = body.attributes.id
    const imported = await importEgg(pterodactyl({ name: 'Paper' }))
    expect((await seed()).kept).toEqual([
      { id: imported.body.attributes.id, name: 'Paper', nest: 'Minecraft' },
    ])
    expect((await paper()).author).toBe('maker@eggs.example')
  })
})
