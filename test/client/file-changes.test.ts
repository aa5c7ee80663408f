import { describe, expect, it } from 'vitest'
import { useFileFixtures } from './file-fixtures.ts'

const { world, fixtures } = useFileFixtures()

const fill = (files: Record<string, string | null | { letter: string }>) => {
  for (const [path, content] of Object.entries(files)) fixtures.tree.set(path, content)
}
const codeOf = ({ status, body }: { status: number; body: any }) => [status, body.errors[0].code]
const ruleOf = ({ status, body }: { status: number; body: any }) => [
  status,
  body.errors[0].meta?.source_field,
  body.errors[0].meta?.rule,
]
const rename = (root: string | null, ...files: [from: string, to: string][]) =>
  fixtures.post('rename', { root, files: files.map(([from, to]) => ({ from, to })) })
const changing = () =>
  fixtures.daemonCalls().filter(([, route]) => !String(route).startsWith('list-directory'))
const paths = () => [...fixtures.tree.keys()].toSorted((one, other) => one.localeCompare(other))

describe('renaming', () => {
  it('moves several entries by one call after one listing per folder, and is recorded', async () => {
    fill({ '/a': null, '/a/x': '1', '/a/ y ': '2', '/b': null })
    expect((await rename('/a', ['x', 'z'], [' y ', '../b/y'])).status).toBe(204)
    expect(paths()).toEqual(['/a', '/a/z', '/b', '/b/y'])
    const moves = [
      { from: 'a/x', to: 'a/z' },
      { from: 'a/ y ', to: 'b/y' },
    ]
    expect(fixtures.daemonCalls()).toEqual([
      ['GET', 'list-directory?directory=/a', null],
      ['PUT', 'rename', { root: '/', files: moves }],
    ])
    expect(await fixtures.entries()).toEqual([
      {
        event: 'server:file.rename',
        serverId: fixtures.server.id,
        properties: {
          directory: '/a/',
          files: [
            { from: 'x', to: 'z' },
            { from: ' y ', to: '/b/y' },
          ],
        },
      },
    ])
  })

  it('takes no root for the root', async () => {
    fill({ '/x': '1' })
    expect((await rename(null, ['x', 'y'])).status).toBe(204)
    expect((await rename('', ['y', 'z'])).status).toBe(204)
    expect(paths()).toEqual(['/z'])
    expect(ruleOf(await fixtures.post('rename', { files: [{ from: 'z', to: 'a' }] }))).toEqual([
      422,
      'root',
      'required',
    ])
  })

  it('follows what it has moved itself', async () => {
    fill({ '/a': null, '/a/x': '1', '/b': '2' })
    expect((await rename('/', ['a', 'c/d'], ['c/d/x', 'x'], ['b', 'a'], ['x', 'b'])).status).toBe(204)
    expect(changing()).toHaveLength(4)
    expect(paths()).toEqual(['/a', '/b', '/c/d'])
  })

  it('of what is missing is what the daemon says it is, and is not recorded', async () => {
    fill({ '/a': null, '/b': '1' })
    for (const from of ['x', 'a/x', 'nowhere/x']) {
      expect((await rename('/', [from, 'y'])).status).toBe(204)
    }
    expect(changing()).toHaveLength(3)
    expect(await world.events()).toEqual([])
    expect((await rename('/', ['gone', 'y'], ['b', 'c'])).status).toBe(204)
    expect((await fixtures.entries()).map(({ properties }) => properties)).toEqual([
      { directory: '/', files: [{ from: 'b', to: 'c' }] },
    ])
    fixtures.daemon.respond(({ path }) =>
      path.includes('rename') ? { status: 404, json: { error: 'no such file' } } : { json: [] },
    )
    expect((await rename('/', ['x', 'y'])).status).toBe(404)
  })

  it('is 400 when something is at the new place', async () => {
    fill({ '/x': '1', '/y': '2', '/dir': null })
    for (const to of ['y', 'dir']) {
      const answer = await rename('/', ['x', to])
      expect(codeOf(answer)).toEqual([400, 'DaemonConnectionException'])
      expect(answer.body.errors[0].detail).toContain('already exists')
    }
    expect(fixtures.tree.get('/y')).toBe('2')
    expect(await world.events()).toEqual([])
  })

  it('records what was moved when one of them fails, and the answer names that one', async () => {
    fill({ '/a': '1', '/b': '2', '/c': '3', '/taken': '4' })
    const { status, body } = await rename('/', ['a', 'a2'], ['b', 'taken'], ['c', 'c2'])
    expect(status).toBe(400)
    expect(body.errors[0].detail).toMatch(/^b failed, 2 of 3 are done: .*already exists/)
    expect(paths()).toEqual(['/a2', '/b', '/c2', '/taken'])
    expect((await fixtures.entries()).map(({ properties }) => properties)).toEqual([
      {
        directory: '/',
        files: [
          { from: 'a', to: 'a2' },
          { from: 'c', to: 'c2' },
        ],
      },
    ])
  })

  it('one after the other stops where one fails', async () => {
    fill({ '/a': '1', '/b': '2', '/taken': '3' })
    const { status, body } = await rename('/', ['a', 'c'], ['b', 'taken'], ['c', 'd'])
    expect([status, body.errors[0].detail]).toEqual([
      400,
      expect.stringMatching(/^b failed, 1 of 3 are done: /),
    ])
    expect(paths()).toEqual(['/b', '/c', '/taken'])
    expect((await fixtures.entries()).map(({ properties }) => properties)).toEqual([
      { directory: '/', files: [{ from: 'a', to: 'c' }] },
    ])
  })

  it('to the same name changes nothing, and into itself is refused', async () => {
    fill({ '/a': null })
    expect((await rename('/', ['a', './a/'])).status).toBe(204)
    expect(ruleOf(await rename('/', ['a', 'a/b']))).toEqual([422, 'files.0.to', 'p_path'])
    expect(changing()).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('times out', async () => {
    fill({ '/a': '1', '/b': '2' })
    fixtures.daemon.respond(({ path }) => {
      if (!path.includes('rename')) return { json: [{ name: 'a' }, { name: 'b' }] }
      world.clock.advance(6)
      return { status: 204 }
    })
    const { status, body } = await rename('/', ['a', 'c'], ['b', 'a'])
    expect([status, body.errors[0].detail]).toEqual([504, expect.stringMatching(/^b failed, 1 of 2/)])
    expect(await world.events()).toEqual(['server:file.rename'])
  })
})

describe('copying', () => {
  it('asks the daemon and is recorded', async () => {
    fill({ '/dir': null, '/dir/a.txt': '1' })
    expect((await fixtures.post('copy', { location: 'dir//a.txt' })).status).toBe(204)
    expect(changing()).toEqual([['POST', 'copy', { location: '/dir/a.txt' }]])
    expect(await fixtures.entries()).toEqual([
      { event: 'server:file.copy', serverId: fixtures.server.id, properties: { file: '/dir/a.txt' } },
    ])
  })

  it('is 404 for what is missing and 400 for a folder', async () => {
    fill({ '/dir': null })
    expect((await fixtures.post('copy', { location: '/nothing' })).status).toBe(404)
    expect((await fixtures.post('copy', { location: '/no/thing' })).status).toBe(404)
    expect((await fixtures.post('copy', { location: '/dir' })).status).toBe(400)
    expect(ruleOf(await fixtures.post('copy', { location: '' }))).toEqual([422, 'location', 'required'])
    expect(await world.events()).toEqual([])
  })
})

describe('deleting', () => {
  it('is done in one call and recorded; what is named twice goes once', async () => {
    fill({ '/a': null, '/a/x': '1', '/a/b': null, '/a/b/c': '2' })
    expect((await fixtures.post('delete', { root: 'a/', files: ['x', './x', 'b/c', 'gone'] })).status).toBe(
      204,
    )
    expect(changing()).toEqual([['POST', 'delete', { root: '/a', files: ['x', 'b/c', 'gone'] }]])
    expect(paths()).toEqual(['/a', '/a/b'])
    expect(await fixtures.entries()).toEqual([
      {
        event: 'server:file.delete',
        serverId: fixtures.server.id,
        properties: { directory: '/a/', files: ['x', 'b/c', 'gone'] },
      },
    ])
  })

  it('never takes the root, the folder itself, or what lies beside it', async () => {
    for (const [root, file, rule] of [
      ['/', '', 'required'],
      ['/', '.', 'required'],
      ['/', 'a/..', 'required'],
      ['/a', '', 'required'],
      ['/a', '.', 'p_path'],
      ['/a', '..', 'required'],
      ['/a/b', '..', 'p_path'],
      ['/a', '../b', 'p_path'],
      ['/a', '../../b', 'p_path'],
    ] as const) {
      expect(ruleOf(await fixtures.post('delete', { root, files: ['x', file] })), `${root} ${file}`).toEqual([
        422,
        'files.1',
        rule,
      ])
    }
    expect(fixtures.daemon.calls).toEqual([])
  })

  it('takes 1 to 1000 names', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, n) => `f${n}`)
    expect((await fixtures.post('delete', { root: '/', files: names(1000) })).status).toBe(204)
    expect(ruleOf(await fixtures.post('delete', { root: '/', files: names(1001) }))).toEqual([
      422,
      'files',
      'max',
    ])
    expect(ruleOf(await fixtures.post('delete', { root: '/', files: [] }))).toEqual([
      422,
      'files',
      'required',
    ])
    expect(ruleOf(await fixtures.post('delete', { root: '/' }))).toEqual([422, 'files', 'required'])
  })
})

describe('making a folder', () => {
  it('asks the daemon and is recorded', async () => {
    expect((await fixtures.post('create-folder', { name: 'a b' })).status).toBe(204)
    expect((await fixtures.post('create-folder', { root: '/x', name: 'y/z' })).status).toBe(204)
    expect((await fixtures.post('create-folder', { root: null, name: 'a b' })).status).toBe(204)
    expect(changing().slice(0, 2)).toEqual([
      ['POST', 'create-directory', { path: '/', name: 'a b' }],
      ['POST', 'create-directory', { path: '/x/y', name: 'z' }],
    ])
    const properties = (await fixtures.entries()).map((entry) => entry.properties)
    expect(properties.slice(0, 2)).toEqual([
      { name: 'a b', directory: '/' },
      { name: 'z', directory: '/x/y/' },
    ])
  })

  it('is 400 where a file is in the way', async () => {
    fill({ '/a.txt': '', '/dir': null })
    expect(codeOf(await fixtures.post('create-folder', { name: 'a.txt' }))).toEqual([
      400,
      'BadRequestHttpException',
    ])
    expect((await fixtures.post('create-folder', { root: 'a.txt', name: 'b' })).status).toBe(400)
    expect((await fixtures.post('create-folder', { name: 'dir' })).status).toBe(204)
    expect(await world.events()).toEqual(['server:file.create-directory'])
  })
})

describe('rights', () => {
  const chmod = (...modes: unknown[]) =>
    fixtures.post('chmod', { root: '/', files: modes.map((mode, at) => ({ file: `f${at}`, mode })) })

  it('are set one call each, as octal digits, and leave no event', async () => {
    expect((await chmod(644, '755', '0755', 0, '0', '007')).status).toBe(204)
    expect(changing().map(([, , body]) => body.files)).toEqual([
      [{ file: 'f0', mode: '644' }],
      [{ file: 'f1', mode: '755' }],
      [{ file: 'f2', mode: '755' }],
      [{ file: 'f3', mode: '0' }],
      [{ file: 'f4', mode: '0' }],
      [{ file: 'f5', mode: '07' }],
    ])
    expect(await world.events()).toEqual([])
  })

  it('are nothing but 0 to 777', async () => {
    for (const [mode, rule] of [
      ['888', 'between'],
      [778, 'between'],
      ['1777', 'between'],
      ['4755', 'between'],
      ['00755', 'between'],
      ['u+x', 'numeric'],
      ['0o755', 'numeric'],
      ['-1', 'numeric'],
      [-1, 'numeric'],
      [6.4, 'numeric'],
      [true, 'numeric'],
      [['755'], 'numeric'],
      ['', 'required'],
      [null, 'required'],
      [undefined, 'required'],
    ]) {
      expect(ruleOf(await chmod('644', mode)), JSON.stringify(mode)).toEqual([422, 'files.1.mode', rule])
    }
    expect(fixtures.daemon.calls).toEqual([])
  })

  it('stop where one fails', async () => {
    let calls = 0
    fixtures.daemon.respond(() => ((calls += 1) === 2 ? { status: 500 } : { status: 204 }))
    const { status, body } = await chmod('644', '644', '644')
    expect([status, body.errors[0].detail]).toEqual([500, expect.stringMatching(/^f1 failed, 1 of 3/)])
    expect(calls).toBe(2)
  })
})

describe('what the egg protects', () => {
  const attempts = (name: string): [string, unknown][] => [
    ['copy', { location: name }],
    ['rename', { root: '/', files: [{ from: name, to: 'free' }] }],
    ['rename', { root: '/', files: [{ from: 'a', to: name }] }],
    ['delete', { root: '/', files: ['a', name] }],
    ['create-folder', { name }],
    ['chmod', { root: '/', files: [{ file: name, mode: '644' }] }],
    ['compress', { root: '/', files: ['a', name] }],
    ['decompress', { root: '/', file: name }],
    ['pull', { url: 'https://example.org/x', filename: name }],
    ['pull', { url: `https://example.org/${name}` }],
  ]

  it('is neither read nor changed nor replaced', async () => {
    fill({ '/server.jar': 'x', '/a': 'x' })
    await fixtures.protect(['*.jar'])
    for (const [route, body] of attempts('server.jar')) {
      expect(codeOf(await fixtures.post(route, body)), route).toEqual([403, 'AccessDeniedHttpException'])
    }
    expect((await fixtures.write('/server.jar', 'x')).status).toBe(403)
    expect(fixtures.daemon.calls).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('is 403 also when only the daemon knows of it', async () => {
    fixtures.daemon.respond({
      status: 403,
      json: { error: 'This file cannot be modified: present in egg denylist.' },
    })
    expect(codeOf(await fixtures.post('copy', { location: 'a' }))).toEqual([403, 'AccessDeniedHttpException'])
    fixtures.daemon.respond({ status: 403, json: { error: 'You are not authorized.' } })
    expect((await fixtures.post('copy', { location: 'a' })).status).toBe(502)
  })
})
