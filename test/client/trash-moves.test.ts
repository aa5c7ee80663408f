import { describe, expect, it } from 'vitest'
import { eggs } from '../../src/db/schema.ts'
import { codeOf, ruleOf, useTrashFixtures } from './trash-fixtures.ts'

const { world, fixtures, items, list, move, restore, idOf, ...trash } = useTrashFixtures()

const day = 86_400
const iso = (date: Date) => `${date.toISOString().slice(0, 19)}+00:00`

describe('moving', () => {
  it('puts files, folders and links aside, and lists them', async () => {
    fixtures.daemon.put('/world/a.txt', '/world/sub/b.txt', '/world/link@', '/world/stays.txt')
    const { status, text } = await move('/world', ['a.txt', 'sub', 'link'])
    expect([status, text]).toEqual([204, ''])
    const { status: listed, body } = await list()
    expect(listed).toBe(200)
    expect(Object.keys(body)).toEqual(['data', 'meta'])
    expect(body.meta).toEqual({ current_page: 1, last_page: 1, total: 3 })
    const at = (name: string) => body.data.find((item: { name: string }) => item.name === name)
    expect(at('a.txt')).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      name: 'a.txt',
      path: '/world/a.txt',
      is_file: true,
      ready: true,
      deleted_at: iso(world.clock.now),
      expires_at: iso(new Date(world.clock.now.getTime() + 7 * day * 1000)),
    })
    expect(at('sub')).toMatchObject({ path: '/world/sub', is_file: false, ready: true })
    expect(at('link')).toMatchObject({ path: '/world/link', is_file: true, ready: true })
    expect(fixtures.daemon.paths()).toEqual(
      [
        '/.roost-trash/',
        `/.roost-trash/${at('a.txt').id}/`,
        `/.roost-trash/${at('a.txt').id}/a.txt`,
        `/.roost-trash/${at('sub').id}/`,
        `/.roost-trash/${at('sub').id}/sub/`,
        `/.roost-trash/${at('sub').id}/sub/b.txt`,
        `/.roost-trash/${at('link').id}/`,
        `/.roost-trash/${at('link').id}/link@`,
        '/world/',
        '/world/stays.txt',
      ].toSorted((one, other) => (one < other ? -1 : 1)),
    )
    expect(await trash.log()).toEqual([
      {
        event: 'server:file.trash.move',
        properties: { directory: '/world/', files: ['a.txt', 'sub', 'link'] },
        actorId: fixtures.owner.id,
      },
    ])
    expect((await items()).map(({ heldUntil }) => heldUntil)).toEqual([null, null, null])
  })

  it('tells the node of one item a call', async () => {
    fixtures.daemon.put('/a', '/b', '/c')
    await move('/', ['a', 'b', 'c'])
    const renames = fixtures.daemon.calls.filter(({ path }) => path.endsWith('/rename'))
    expect(renames.map(({ method }) => method)).toEqual(['PUT', 'PUT', 'PUT'])
    for (const { body } of renames) {
      expect(body.root).toBe('/')
      expect(body.files).toHaveLength(1)
    }
    const id = await idOf('/b')
    expect(renames.map(({ body }) => body.files[0])).toContainEqual({ from: 'b', to: `.roost-trash/${id}/b` })
  })

  it('keeps names as they are', async () => {
    const names = [
      ' blank ',
      'äöü 日本 🎮',
      '...',
      '-rf',
      'a%2fb',
      "it's",
      '..hidden',
      'e\u0301',
      'é',
      'tab'.repeat(85),
    ]
    fixtures.daemon.put(...names.map((name) => `/ a b /${name}`))
    expect((await move('/ a b /', names)).status).toBe(204)
    const stored = await items()
    expect(stored.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    for (const { id, name } of stored) {
      expect(fixtures.daemon.paths()).toContain(`/.roost-trash/${id}/${name}`)
      expect((await restore(id)).status).toBe(204)
    }
    expect(fixtures.daemon.paths().filter((path) => path.startsWith('/ a b /')).length).toBe(names.length + 1)
  })

  it('takes a hundred at once', async () => {
    const names = Array.from({ length: 100 }, (_, at) => `file ${at}`)
    fixtures.daemon.put(...names.map((name) => `/logs/${name}`))
    expect((await move('logs', names)).status).toBe(204)
    expect((await items()).filter(({ ready }) => ready)).toHaveLength(100)
    expect(await world.events()).toEqual(['server:file.trash.move'])
    expect(await trash.log()).toMatchObject([{ properties: { files: names } }])
  })

  it('needs file.delete', async () => {
    fixtures.daemon.put('/a')
    const others = [
      'file.create',
      'file.read',
      'file.read-content',
      'file.update',
      'file.archive',
      'file.sftp',
    ]
    expect(codeOf(await move('/', ['a'], await trash.subuser(others)))).toEqual([
      403,
      'AccessDeniedHttpException',
    ])
    expect(fixtures.daemon.calls).toEqual([])
    expect((await move('/', ['a'], await trash.subuser(['file.delete']))).status).toBe(204)
  })

  it('moves nothing at all when something is missing', async () => {
    fixtures.daemon.put('/a', '/folder/b', '/file')
    for (const missingStatus of [500, 404]) {
      Object.assign(fixtures.daemon, { missingStatus })
      for (const [root, files] of [
        ['/', ['a', 'nothing']],
        ['/nowhere/at/all', ['a']],
        ['/file', ['a']],
        ['/file/deeper', ['a']],
        ['/', ['A']],
        ['/', ['folder', 'a ']],
      ] as const) {
        expect(codeOf(await move(root, files))).toEqual([404, 'NotFoundHttpException'])
      }
    }
    expect(fixtures.daemon.paths()).toEqual(['/a', '/file', '/folder/', '/folder/b'])
    expect(await items()).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('asks the node no more often for a folder that is missing far down', async () => {
    fixtures.daemon.put('/a')
    fixtures.daemon.calls.length = 0
    expect((await move('/deep'.repeat(200), ['a'])).status).toBe(404)
    expect(fixtures.daemon.calls).toHaveLength(3)
  })

  it('refuses what does not fit', async () => {
    fixtures.daemon.put('/a')
    const long = Array.from({ length: 101 }, (_, at) => `f${at}`)
    for (const [root, files, field, rule] of [
      [null, ['a'], 'root', 'required'],
      [undefined, ['a'], 'root', 'required'],
      ['', ['a'], 'root', 'required'],
      ['  ', ['a'], 'root', 'required'],
      [7, ['a'], 'root', 'string'],
      [['/'], ['a'], 'root', 'string'],
      [`/${'x/'.repeat(2048)}`, ['a'], 'root', 'max'],
      [`/${'ä'.repeat(128)}`, ['a'], 'root', 'max'],
      ['/..', ['a'], 'root', 'p_path'],
      ['/a\nb', ['a'], 'root', 'regex'],
      ['/', undefined, 'files', 'required'],
      ['/', null, 'files', 'required'],
      ['/', [], 'files', 'required'],
      ['/', 'a', 'files', 'array'],
      ['/', { 0: 'a' }, 'files', 'array'],
      ['/', long, 'files', 'max'],
      ['/', ['a', 'b', 'a'], 'files.2', 'distinct'],
      ['/', ['a', ''], 'files.1', 'required'],
      ['/', ['a', null], 'files.1', 'required'],
      ['/', ['a', 1], 'files.1', 'string'],
      ['/', [['a']], 'files.0', 'string'],
      ['/', ['x'.repeat(256)], 'files.0', 'max'],
      ['/', ['ä'.repeat(128)], 'files.0', 'max'],
      ['/', ['.'], 'files.0', 'regex'],
      ['/', ['..'], 'files.0', 'regex'],
      ['/', ['a/b'], 'files.0', 'regex'],
      ['/', ['/a'], 'files.0', 'regex'],
      ['/', ['a/'], 'files.0', 'regex'],
      ['/', ['../a'], 'files.0', 'regex'],
      ['/', ['a\\b'], 'files.0', 'regex'],
      ['/', ['a\nb'], 'files.0', 'regex'],
    ] as const) {
      expect(ruleOf(await move(root, files)), JSON.stringify([root, files]).slice(0, 80)).toEqual([
        422,
        field,
        rule,
      ])
    }
    expect(codeOf(await move('/', ['a\0']))).toEqual([400, 'BadRequestHttpException'])
    expect(fixtures.daemon.calls).toEqual([])
    expect(await items()).toEqual([])
  })

  it('leaves the trash itself alone in every spelling', async () => {
    fixtures.daemon.put('/.roost-trash/x/a', '/sub/.roost-trash/a')
    for (const [root, name] of [
      ['/', '.roost-trash'],
      ['/', '.ROOST-trash'],
      ['/', '.roost-trash.'],
      ['/', '%2eroost-trash'],
      ['/', '.roost\u200b-trash'],
      ['/.roost-trash', 'x'],
      ['.roost-trash/', 'x'],
      ['/./sub/..//.roost-trash/./', 'x'],
      ['/.roost-trash/x', 'a'],
    ] as const) {
      expect(codeOf(await move(root, [name])), `${root} ${name}`).toEqual([403, 'AccessDeniedHttpException'])
    }
    expect(fixtures.daemon.calls).toEqual([])
  })

  it('leaves alone what the egg protects', async () => {
    fixtures.daemon.put('/a', '/server.jar', '/config/secret.yml', '/locked')
    await world.database.db.update(eggs).set({ fileDenylist: ['*.jar', '/config/secret.yml'] })
    fixtures.daemon.locked.add('locked')
    for (const [root, files] of [
      ['/', ['a', 'server.jar']],
      ['/config', ['secret.yml']],
      // The daemon knows of more than the panel.
      ['/', ['locked']],
    ] as const) {
      expect(codeOf(await move(root, files))).toEqual([403, 'AccessDeniedHttpException'])
    }
    expect(await items()).toEqual([])
    expect(await world.events()).toEqual([])
    expect(fixtures.daemon.paths()).toEqual([
      '/a',
      '/config/',
      '/config/secret.yml',
      '/locked',
      '/server.jar',
    ])
    expect((await move('/', ['config'])).status).toBe(204)
  })
})
