import { describe, expect, it } from 'vitest'
import { useFileFixtures } from './file-fixtures.ts'

const { world, fixtures } = useFileFixtures()

const fill = (files: Record<string, string | null | { letter: string }>) => {
  for (const [path, content] of Object.entries(files)) fixtures.tree.set(path, content)
}
const codeOf = ({ status, body }: { status: number; body: any }) => [status, body.errors[0].code]
const limit = 4 * 1024 * 1024

describe('a folder', () => {
  it('is listed as the wire has it', async () => {
    fill({ '/a.txt': 'hello', '/world': null, '/link': { letter: 'L' } })
    const { status, body } = await fixtures.send('GET', 'list')
    expect(status).toBe(200)
    const times = { created_at: '2026-03-01T10:00:00+00:00', modified_at: '2026-03-02T12:00:00+00:00' }
    expect(body).toEqual({
      object: 'list',
      data: [
        {
          object: 'file_object',
          attributes: {
            name: 'world',
            mode: 'drwxr-xr-x',
            mode_bits: '755',
            size: 4096,
            is_file: false,
            is_symlink: false,
            mimetype: 'inode/directory',
            ...times,
          },
        },
        {
          object: 'file_object',
          attributes: {
            name: 'a.txt',
            mode: '-rw-r--r--',
            mode_bits: '644',
            size: 5,
            is_file: true,
            is_symlink: false,
            mimetype: 'text/plain; charset=utf-8',
            ...times,
          },
        },
        expect.objectContaining({
          attributes: expect.objectContaining({ name: 'link', is_file: true, is_symlink: true }),
        }),
      ],
    })
    expect(await world.events()).toEqual([])
  })

  const namesIn = async (directory: string) =>
    (await fixtures.get('list', 'directory', directory)).body.data.map(
      ({ attributes }: { attributes: { name: string } }) => attributes.name,
    )

  it('is sorted, folders first, without the trash', async () => {
    fill({ '/b': null, '/a10': '', '/a9': '', '/Z': null, '/.hidden': '', '/.roost-trash': null })
    expect(await namesIn('/')).toEqual(['b', 'Z', '.hidden', 'a9', 'a10'])
  })

  it('is found in every spelling of its path, and blanks are part of names', async () => {
    fill({ '/x': null, '/x/ y ': null, '/x/ y /z': '' })
    for (const path of ['/x/ y ', 'x/ y ', '/x//./ y /', '/x/a/../ y ']) {
      expect(await namesIn(path)).toEqual(['z'])
    }
    expect((await fixtures.get('list', 'directory', '/x/y')).status).toBe(404)
  })

  it('is 404 when it is missing, below what is missing, a file or a link', async () => {
    fill({ '/a.txt': '', '/link': { letter: 'L' } })
    for (const path of ['/nothing', '/nothing/at/all', '/a.txt', '/a.txt/b', '/link']) {
      expect(codeOf(await fixtures.get('list', 'directory', path)), path).toEqual([
        404,
        'NotFoundHttpException',
      ])
    }
    fixtures.daemon.respond({ status: 404, json: { error: 'not found' } })
    expect((await fixtures.get('list', 'directory', '/nothing')).status).toBe(404)
  })

  it('is a failure of the daemon when that is what it is', async () => {
    fixtures.daemon.respond({ status: 500 })
    for (const path of ['/', '/world', '/deep/world']) {
      expect(codeOf(await fixtures.get('list', 'directory', path))).toEqual([
        500,
        'DaemonConnectionException',
      ])
    }
    fill({ '/world': null })
    fixtures.daemon.respond(({ path }) =>
      path.endsWith('world')
        ? { status: 500 }
        : { json: [{ name: 'world', mode: 'drwxr-xr-x', directory: true }] },
    )
    expect((await fixtures.get('list', 'directory', '/world')).status).toBe(500)
    fixtures.daemon.respond({ status: 404, json: { error: 'no such server' } })
    expect(codeOf(await fixtures.get('list', 'directory', '/'))).toEqual([404, 'DaemonConnectionException'])
    for (const answer of [{ json: { a: 1 } }, { json: null }, { text: '<html>' }]) {
      fixtures.daemon.respond(answer)
      expect((await fixtures.send('GET', 'list')).status).toBe(502)
    }
  })

  it('stands what daemons leave out or make up', async () => {
    const odd = [
      { name: 'a' },
      null,
      7,
      {},
      { name: '' },
      { name: 5 },
      { name: 'b', size: -1, created: 'never', modified: '+123456-01-01T00:00:00Z', mode: 7, mime: {} },
      { name: 'c', size: 1.5, directory: true, file: false, symlink: 'x' },
      { name: 'd', mode: '-rwsr-xr-x' },
      { name: 'e', mode: 'prw-r--r--', file: true },
    ]
    fixtures.daemon.respond({ json: odd })
    const { status, body } = await fixtures.send('GET', 'list')
    expect(status).toBe(200)
    expect(body.data.map((each: any) => [each.attributes.name, each.attributes.is_file])).toEqual([
      ['c', false],
      ['a', true],
      ['b', true],
      ['d', true],
      ['e', true],
    ])
    expect(body.data[1].attributes.mimetype).toBe('application/octet-stream')
    const now = `${world.clock.now.toISOString().slice(0, 19)}+00:00`
    expect(body.data[2].attributes).toMatchObject({ size: 0, created_at: now, modified_at: now })
  })
})

describe('contents', () => {
  it('FE-4: are the bytes, as text that no browser runs', async () => {
    fill({ '/dir': null, '/dir/a b.html': '<script>\r\n ä ' })
    const { status, text, headers } = await fixtures.get('contents', 'file', 'dir/a b.html')
    expect([status, text]).toEqual([200, '<script>\r\n ä '])
    expect(headers.get('content-type')).toMatch(/^text\/plain/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toContain('sandbox')
    expect(headers.get('cache-control')).toBe('no-store, private')
    expect(await fixtures.entries()).toEqual([
      { event: 'server:file.read', serverId: fixtures.server.id, properties: { file: '/dir/a b.html' } },
    ])
  })

  it('of an empty file are empty', async () => {
    fill({ '/a': '' })
    const { status, text } = await fixtures.get('contents', 'file', '/a')
    expect([status, text]).toEqual([200, ''])
  })

  it('are not read of what is no file', async () => {
    fill({ '/dir': null, '/pipe': { letter: 'p' }, '/link': { letter: 'L' } })
    for (const [path, status] of [
      ['/nothing', 404],
      ['/dir/nothing', 404],
      ['/nowhere/nothing', 404],
      ['/dir', 400],
      ['/pipe', 400],
    ] as const) {
      expect((await fixtures.get('contents', 'file', path)).status, path).toBe(status)
    }
    expect(fixtures.daemonCalls().filter(([, route]) => route.startsWith('contents'))).toEqual([])
    expect((await fixtures.get('contents', 'file', '/link')).status).toBe(400)
    expect(await world.events()).toEqual([])
  })

  it('of a link are shown when the daemon follows it, and not when it leads to a folder', async () => {
    const list = { json: [{ name: 'link', mode: 'Lrwxrwxrwx', size: 5, file: true }] }
    fixtures.daemon.respond(({ path }) => (path.includes('contents') ? { text: 'far' } : list))
    expect((await fixtures.get('contents', 'file', '/link')).text).toBe('far')
    const cut = { text: '', headers: { 'content-length': '4096' }, cut: true } as const
    fixtures.daemon.respond(({ path }) => (path.includes('contents') ? cut : list))
    expect((await fixtures.get('contents', 'file', '/link')).status).toBe(400)
  })

  it('of 4 MiB are shown, of more refused: by the listing and the announced length', async () => {
    const tooLarge = [400, 'FileSizeTooLargeException']
    fill({ '/fits': 'x'.repeat(limit), '/large': 'x'.repeat(limit + 1) })
    expect((await fixtures.get('contents', 'file', '/fits')).text).toHaveLength(limit)
    fixtures.daemon.calls.length = 0
    expect(codeOf(await fixtures.get('contents', 'file', '/large'))).toEqual(tooLarge)
    expect(fixtures.daemonCalls()).toHaveLength(1)
    const small = { json: [{ name: 'grows', mode: '-rw-r--r--', size: 5 }] }
    const grown = { text: 'x'.repeat(limit + 1) }
    const announced = { 'content-length': String(limit + 1) }
    fixtures.daemon.respond(({ path }) =>
      path.includes('contents') ? { ...grown, headers: announced } : small,
    )
    expect(codeOf(await fixtures.get('contents', 'file', '/grows'))).toEqual(tooLarge)
    expect(await world.events()).toEqual(['server:file.read'])
  })

  it('of which the daemon sends more than 4 MiB without saying so are 502 with a code of their own', async () => {
    const small = { json: [{ name: 'grows', mode: '-rw-r--r--', size: 5 }] }
    fixtures.daemon.respond(({ path }) =>
      path.includes('contents') ? { text: 'x'.repeat(limit + 1) } : small,
    )
    const answer = await fixtures.get('contents', 'file', '/grows')
    expect(codeOf(answer)).toEqual([502, 'DaemonAnswerTooLargeException'])
    expect(await world.events()).toEqual([])
  })

  it('that break off, or that the daemon fails to give, are no contents', async () => {
    const small = { json: [{ name: 'a', mode: '-rw-r--r--', size: 5 }] }
    const cut = { text: 'abc', headers: { 'content-length': '5' }, cut: true } as const
    fixtures.daemon.respond(({ path }) => (path.includes('contents') ? cut : small))
    expect(codeOf(await fixtures.get('contents', 'file', '/a'))).toEqual([502, 'DaemonConnectionException'])
    fixtures.daemon.respond(({ path }) => (path.includes('contents') ? { status: 500 } : small))
    expect((await fixtures.get('contents', 'file', '/a')).status).toBe(500)
    expect(await world.events()).toEqual([])
  })

  it('must be asked for by name', async () => {
    for (const path of ['contents', 'contents?file=', 'contents?file[]=a', 'download', 'download?file=']) {
      const { status, body } = await fixtures.send('GET', path)
      const rule = path.includes('[]') ? 'string' : 'required'
      expect([status, body.errors[0].meta], path).toMatchObject([422, { source_field: 'file', rule }])
    }
  })
})

describe('writing', () => {
  it('hands over exactly the bytes', async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 0xc3, 0x28, 32, 32])
    const request = new Request(
      `http://panel.test/api/client/servers/${fixtures.server.uuid}/files/write?file=${encodeURIComponent('/a dir/x ')}`,
      { method: 'POST', headers: { authorization: `Bearer ${fixtures.token}` }, body: bytes },
    )
    expect((await world.app.request(request)).status).toBe(204)
    const [call] = fixtures.daemon.calls
    expect(call?.bytes.equals(bytes)).toBe(true)
    expect(call?.headers['content-length']).toBe('8')
    expect(fixtures.daemonCalls()[0]?.slice(0, 2)).toEqual(['POST', 'write?file=/a dir/x '])
    expect(await fixtures.entries()).toEqual([
      { event: 'server:file.write', serverId: fixtures.server.id, properties: { file: '/a dir/x ' } },
    ])
  })

  it('takes JSON as it is, and nothing said to be JSON that is not', async () => {
    const json = '{ "__proto__": {"a": "\\u0000"}, "b":  "" }\n'
    for (const type of ['application/json', 'application/vnd.api+json; charset=utf-8', 'text/plain']) {
      expect((await fixtures.write('a.json', json, type)).status).toBe(204)
      expect(fixtures.tree.get('/a.json')).toBe(json)
      expect(fixtures.daemon.calls.at(-1)?.headers['content-type']).not.toBe('application/json')
    }
    expect((await fixtures.write('a.json', '', 'application/json')).status).toBe(204)
    expect((await fixtures.write('a.json', '{"half', 'text/plain')).status).toBe(204)
    const before = fixtures.daemon.calls.length
    expect(codeOf(await fixtures.write('a.json', '{"half', 'application/json'))).toEqual([
      400,
      'BadRequestHttpException',
    ])
    expect(fixtures.daemon.calls).toHaveLength(before)
  })

  it('takes 4 MiB and no byte more', async () => {
    expect((await fixtures.write('a', 'x'.repeat(limit))).status).toBe(204)
    expect((await fixtures.write('a', 'x'.repeat(limit + 1))).status).toBe(413)
    expect((await fixtures.write('a', 'ä'.repeat(limit / 2 + 1))).status).toBe(413)
    expect(fixtures.daemon.calls).toHaveLength(1)
  })

  it('is refused over a folder and in a file', async () => {
    fill({ '/dir': null, '/a.txt': '' })
    expect(codeOf(await fixtures.write('/dir', 'x'))).toEqual([400, 'DaemonConnectionException'])
    expect(codeOf(await fixtures.write('/a.txt/b', 'x'))).toEqual([400, 'BadRequestHttpException'])
    expect(await world.events()).toEqual([])
  })
})

describe('what the egg protects', () => {
  it('cannot be read, and reading it is not recorded', async () => {
    fill({ '/server.jar': 'x', '/Server.jar': 'x', '/dir': null, '/dir/server.jar': 'y', '/secret': null })
    await fixtures.protect(['server.jar', '/secret/', '!/dir/server.jar'])
    expect((await fixtures.get('contents', 'file', '/server.jar')).status).toBe(403)
    expect((await fixtures.get('download', 'file', '/server.jar')).status).toBe(403)
    expect((await fixtures.get('download', 'file', '/secret/x')).status).toBe(403)
    expect(await world.events()).toEqual([])
    expect((await fixtures.get('contents', 'file', '/Server.jar')).status).toBe(200)
    expect((await fixtures.get('contents', 'file', '/dir/server.jar')).status).toBe(200)
  })
})

describe('reading', () => {
  it('costs two statements at most', async () => {
    fill({ '/a': 'x' })
    await fixtures.protect(['b'])
    for (const [path, cost] of [
      ['list', 1],
      ['contents?file=a', 2],
      ['download?file=a', 2],
      ['upload', 1],
    ] as const) {
      expect(await world.countStatements(() => fixtures.send('GET', path)), path).toBe(cost)
    }
  })
})
