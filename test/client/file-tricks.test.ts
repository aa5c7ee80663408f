import { beforeEach, describe, expect, it } from 'vitest'
import type { Answer } from '../support/answers.ts'
import { useFileFixtures } from './file-fixtures.ts'
import { conflictsOf } from './conflicts.ts'

const { world, fixtures } = useFileFixtures()

/** Paths, and the refusal of each. */
const tricks: [path: string, status: number, rule?: string][] = [
  ['..', 422, 'p_path'],
  ['../..', 422, 'p_path'],
  ['/../x', 422, 'p_path'],
  ['a/../../x', 422, 'p_path'],
  ['a//..//..//x', 422, 'p_path'],
  ['a\r\nb', 422, 'regex'],
  ['a\u001b[2J', 422, 'regex'],
  ['x'.repeat(300), 422, 'max'],
  ['ä'.repeat(150), 422, 'max'],
  ['a/'.repeat(2500), 422, 'max'],
  ['a\0b', 400],
  ['.roost-trash', 403],
  ['.roost-trash/', 403],
  ['./.roost-trash', 403],
  ['a/../.roost-trash/x', 403],
  ['a//..//.roost-trash', 403],
  ['.ROOST-TRASH', 403],
  ['.roost-trash.', 403],
  ['.roost-trash /x', 403],
  ['．ｒｏｏｓｔ－ｔｒａｓｈ', 403],
  ['%2eroost-trash/x', 403],
  ['%252eroost-trash', 403],
  ['.roost-trash\\x', 403],
  ['..\\.roost-trash', 403],
]
/** Names that look like a trick, and the path that is sent to the daemon. */
const names: [path: string, resolved: string][] = [
  ['a//b', '/a/b'],
  ['./a/./b', '/a/b'],
  ['c/../a', '/a'],
  ['..\\..\\x', '/..\\..\\x'],
  ['a\\b', '/a\\b'],
  ['%2e%2e%2fx', '/%2e%2e%2fx'],
  ['．．', '/．．'],
  ['...', '/...'],
  ['a..', '/a..'],
  [' a ', '/ a '],
  ["'; rm -rf ~ #", "/'; rm -rf ~ #"],
  ['a?b&c=d', '/a?b&c=d'],
  ['-rf', '/-rf'],
  ['日本🎮', '/日本🎮'],
]

const get = (route: string, parameter: string) => (path: string) => fixtures.get(route, parameter, path)
const post = (route: string, bodyOf: (path: string) => unknown) => (path: string) =>
  fixtures.post(route, bodyOf(path))
const url = 'https://example.org/x'

/** Every field in which a route takes a path. */
const places: Record<string, (path: string) => Promise<Answer>> = {
  'list directory': get('list', 'directory'),
  'contents file': get('contents', 'file'),
  'download file': get('download', 'file'),
  'write file': (path) => fixtures.write(path, 'x'),
  'copy location': post('copy', (location) => ({ location })),
  'rename root': post('rename', (root) => ({ root, files: [{ from: 'x', to: 'y' }] })),
  'rename from': post('rename', (from) => ({ root: '/', files: [{ from, to: 'y' }] })),
  'rename to': post('rename', (to) => ({ root: '/', files: [{ from: 'x', to }] })),
  'rename second': post('rename', (to) => ({
    root: '/',
    files: [
      { from: 'x', to: 'y' },
      { from: 'z', to },
    ],
  })),
  'compress root': post('compress', (root) => ({ root, files: ['x'] })),
  'compress files': post('compress', (file) => ({ root: '/', files: ['x', file] })),
  'decompress root': post('decompress', (root) => ({ root, file: 'x' })),
  'decompress file': post('decompress', (file) => ({ root: '/', file })),
  'delete root': post('delete', (root) => ({ root, files: ['x'] })),
  'delete files': post('delete', (file) => ({ root: '/', files: ['x', file] })),
  'create-folder root': post('create-folder', (root) => ({ root, name: 'x' })),
  'create-folder name': post('create-folder', (name) => ({ root: '/', name })),
  'chmod root': post('chmod', (root) => ({ root, files: [{ file: 'x', mode: '644' }] })),
  'chmod file': post('chmod', (file) => ({ root: '/', files: [{ file, mode: '644' }] })),
  'pull directory': post('pull', (directory) => ({ url, directory })),
  'pull filename': post('pull', (filename) => ({ url, filename })),
}

beforeEach(() => {
  Object.assign(world.services, { config: { ...world.services.config, clientRateLimit: 1_000_000 } })
})

describe.each(Object.entries(places))('%s', (place, send) => {
  it('refuses path tricks, and calls no daemon', async () => {
    const faults: string[] = []
    for (const [path, status, rule] of tricks) {
      world.clock.advance(301)
      const answer = await send(path)
      const shown = `${path.slice(0, 40)} (${path.length}): ${answer.status}`
      if (answer.status !== status) faults.push(shown)
      else if (rule && answer.body.errors[0].meta?.rule !== rule) faults.push(`${shown} ${answer.text}`)
    }
    expect(faults).toEqual([])
    expect(fixtures.daemon.calls).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('takes unusual names literally', async () => {
    const faults: string[] = []
    for (const [path, resolved] of names) {
      world.clock.advance(301)
      fixtures.daemon.calls.length = 0
      const answer = await send(path)
      if (![200, 204, 400, 404].includes(answer.status)) faults.push(`${path}: ${answer.status}`)
      if (place === 'download file') continue
      const daemonCalls = fixtures.daemonCalls().map((call) => JSON.stringify(call.slice(1)).replace(url, ''))
      const spelt = JSON.stringify(resolved.slice(1)).slice(1, -1)
      const lastName = spelt.slice(spelt.lastIndexOf('/') + 1)
      const isParentListed = ['contents file', 'rename to', 'rename from', 'rename second'].includes(place)
      if (!isParentListed && !daemonCalls.some((call) => call.includes(lastName)))
        faults.push(`${path} became ${daemonCalls.join()}`)
      if (daemonCalls.some((call) => /"\/?\.\.?"|\/\.\.?\/|\/\/|\/\.\.?"/.test(call)))
        faults.push(`${path} was told as ${daemonCalls.join()}`)
    }
    expect(faults).toEqual([])
  })
})

describe('a root with names', () => {
  it('leads nowhere else together with them', async () => {
    const pairs: [root: string, name: string][] = [
      ['/a', '../..'],
      ['/a', '../../x'],
      ['..', 'x'],
      ['/a/../..', 'x'],
      ['/.roost-trash', '../x'],
      ['/a', '../.roost-trash'],
      ['/a/.roost-trash/..', '.roost-trash'],
      ['/.roost-trash/a', '.'],
      ['/', '.roost-trash/../.roost-trash/x'],
      ['.', './.roost-trash'],
    ]
    for (const [root, name] of pairs) {
      const bodies: Record<string, unknown> = {
        delete: { root, files: [name] },
        compress: { root, files: [name] },
        decompress: { root, file: name },
        chmod: { root, files: [{ file: name, mode: 644 }] },
        rename: { root, files: [{ from: name, to: 'x' }] },
        'create-folder': { root, name },
        pull: { url, directory: root, filename: name },
      }
      for (const [route, body] of Object.entries(bodies)) {
        world.clock.advance(301)
        const expected = name.includes('trash') || root.startsWith('/.roost') ? 403 : 422
        expect((await fixtures.post(route, body)).status, `${route} ${root} ${name}`).toBe(expected)
      }
    }
    expect(fixtures.daemon.calls).toEqual([])
  })
})

describe('access', () => {
  const routes: [permission: string, method: string, path: string, body?: unknown][] = [
    ['file.read', 'GET', 'list'],
    ['file.read-content', 'GET', 'contents?file=a'],
    ['file.read-content', 'GET', 'download?file=a'],
    ['file.create', 'GET', 'upload'],
    ['file.update', 'PUT', 'rename', { root: '/', files: [{ from: 'a', to: 'b' }] }],
    ['file.create', 'POST', 'copy', { location: 'b' }],
    ['file.create', 'POST', 'write?file=a', 'text'],
    ['file.archive', 'POST', 'compress', { files: ['a'] }],
    ['file.create', 'POST', 'decompress', { file: 'z' }],
    ['file.create', 'POST', 'create-folder', { name: 'c' }],
    ['file.update', 'POST', 'chmod', { root: '/', files: [{ file: 'a', mode: 644 }] }],
    ['file.create', 'POST', 'pull', { url }],
    ['file.delete', 'POST', 'delete', { root: '/', files: ['b'] }],
  ]

  it('needs one permission for each route', async () => {
    fixtures.tree.set('/a', 'x').set('/z', 'archive')
    const all = [...new Set(routes.map(([permission]) => permission))]
    for (const [permission, method, path, body] of routes) {
      const others = await fixtures.subuserToken(all.filter((each) => each !== permission))
      const own = await fixtures.subuserToken([permission])
      const send = (token: string) => fixtures.send(method, path, { token, ...(body ? { body } : {}) })
      expect((await send(others)).status, path).toBe(403)
      const { status } = await send(own)
      expect([200, 204], `${path} ${status}`).toContain(status)
    }
  })

  it('is refused while the server is in a state that conflicts, even to administrators', async () => {
    const requests = routes.map(([, method, path, body]) => [method, `/files/${path}`, body] as const)
    const all = requests.map(([method, path]) => `${method} ${path}`)
    const conflicts = await conflictsOf(world, fixtures.server, requests)
    expect(conflicts).toHaveLength(18)
    for (const { state, caller, refused } of conflicts) expect(refused, `${caller} ${state}`).toEqual(all)
    expect(fixtures.daemon.calls).toEqual([])
    expect(await world.events()).toEqual([])
  })
})
