import { describe, expect, it } from 'vitest'
import { refuseBusy } from '../../src/domain/files/lock.ts'
import { useFileFixtures } from './file-fixtures.ts'

const { world, fixtures } = useFileFixtures()

const pull = (body: object) => fixtures.post('pull', { url: 'https://example.org/a/b.jar', ...body })
const ruleOf = ({ status, body }: { status: number; body: any }) => [
  status,
  body.errors[0].meta?.source_field,
  body.errors[0].meta?.rule,
]

describe('pulling a file', () => {
  it('begins on the daemon and is recorded', async () => {
    expect((await pull({})).status).toBe(204)
    expect(fixtures.daemonCalls()).toEqual([
      ['POST', 'pull', { url: 'https://example.org/a/b.jar', root: '/' }],
    ])
    expect(await fixtures.entries()).toEqual([
      {
        event: 'server:file.pull',
        serverId: fixtures.server.id,
        properties: { directory: '/', url: 'https://example.org/a/b.jar' },
      },
    ])
  })

  it('hands on what was asked for, and nothing else', async () => {
    await pull({ directory: 'mods//x/', filename: 'c d.jar', use_header: false, foreground: true })
    await pull({ directory: null, filename: null, use_header: null, foreground: null })
    await pull({ directory: '/mods', filename: 'sub/c.jar', use_header: '1', foreground: 0 })
    await pull({ filename: '' })
    const url = 'https://example.org/a/b.jar'
    expect(fixtures.daemonCalls().map(([, , body]) => body)).toEqual([
      { url, root: '/mods/x', file_name: 'c d.jar', use_header: false, foreground: true },
      { url, root: '/' },
      { url, root: '/mods/sub', file_name: 'c.jar', use_header: true, foreground: false },
      { url, root: '/' },
    ])
  })

  it('names the address as every reader reads it', async () => {
    await pull({ url: 'HTTP://134744072/x' })
    expect(fixtures.daemonCalls()[0]?.[2].url).toBe('http://8.8.8.8/x')
  })

  it('does not send the daemon to addresses inside, with credentials or of other schemes', async () => {
    for (const url of [
      'http://127.0.0.1/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://017700000001/',
      'http://[::1]/',
      'http://[::ffff:10.0.0.1]/',
      'http://169.254.169.254/latest/meta-data/',
      'http://localhost:8080/',
      'http://metadata.google.internal/',
      'https://user:secret@example.org/',
      'ftp://example.org/x',
      'file:///etc/passwd',
    ]) {
      world.clock.advance(301)
      expect(ruleOf(await pull({ url })), url).toEqual([422, 'url', 'url'])
    }
    world.clock.advance(301)
    expect(ruleOf(await pull({ url: '' }))).toEqual([422, 'url', 'required'])
    expect(ruleOf(await pull({ url: null }))).toEqual([422, 'url', 'required'])
    expect(ruleOf(await pull({ url: `https://example.org/${'x'.repeat(5000)}` }))).toEqual([
      422,
      'url',
      'max',
    ])
    expect(ruleOf(await pull({ foreground: 'maybe' }))).toEqual([422, 'foreground', 'boolean'])
    expect(fixtures.daemon.calls).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('does not put a file where the trash is', async () => {
    for (const body of [
      { directory: '/.roost-trash' },
      { filename: '.roost-trash' },
      { directory: '/a', filename: '../.ROOST-TRASH/x' },
      { url: 'https://example.org/.roost-trash' },
      { url: 'https://example.org/%2eroost-trash?x' },
      { url: 'https://example.org/%252eroost-trash' },
    ]) {
      expect((await pull(body)).status, JSON.stringify(body)).toBe(403)
    }
    expect(fixtures.daemon.calls).toEqual([])
  })

  it('in the foreground is waited for, as long as one may wait', async () => {
    Object.assign(world.services, { config: { ...world.services.config, maxWaitMs: 100 } })
    fixtures.daemon.respond({ hang: true })
    expect((await pull({ foreground: true })).status).toBe(204)
    await expect(refuseBusy(fixtures.panel(), fixtures.server)).rejects.toMatchObject({ status: 409 })
    expect(await world.events()).toEqual(['server:file.pull'])
  })

  it('that the daemon refuses leaves no event', async () => {
    fixtures.daemon.respond({ status: 400, json: { error: 'three are running' } })
    expect((await pull({})).status).toBe(400)
    fixtures.daemon.respond({ status: 500 })
    expect((await pull({ foreground: true })).status).toBe(500)
    await refuseBusy(fixtures.panel(), fixtures.server)
    expect(await world.events()).toEqual([])
  })

  it('is let through 10 times in 5 minutes for each user on each server, even at once', async () => {
    const answers = await Promise.all(Array.from({ length: 14 }, () => pull({})))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(4)
    const other = await fixtures.subuserToken(['file.create'])
    const body = { url: 'https://example.org/x' }
    expect((await fixtures.send('POST', 'pull', { token: other, body })).status).toBe(204)
    world.clock.advance(301)
    expect((await pull({})).status).toBe(204)
  })
})
