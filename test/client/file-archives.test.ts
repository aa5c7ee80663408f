import { describe, expect, it } from 'vitest'
import { refuseBusy } from '../../src/domain/files/lock.ts'
import { useFileFixtures } from './file-fixtures.ts'

const { world, fixtures } = useFileFixtures()

const changing = () =>
  fixtures.daemonCalls().filter(([, route]) => !String(route).startsWith('list-directory'))
const isBusy = () =>
  refuseBusy(fixtures.panel(), fixtures.server).then(
    () => false,
    () => true,
  )
const setDaemonTimeout = (milliseconds: number) =>
  Object.assign(world.services, { config: { ...world.services.config, maxWaitMs: milliseconds } })
/** Reads the response without checking its schema. */
const send = (route: string, body: unknown) =>
  world.app.request(`http://panel.test/api/client/servers/${fixtures.server.uuid}/files/${route}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixtures.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('packing', () => {
  it('answers the archive and is recorded', async () => {
    const { status, body } = await fixtures.post('compress', { root: '/a', files: ['x', 'b/y', 'x'] })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'file_object',
      attributes: { name: 'archive-1.tar.gz', size: 2, is_file: true },
    })
    expect(changing()).toEqual([['POST', 'compress', { root: '/a', files: ['x', 'b/y'] }]])
    expect(await fixtures.entries()).toEqual([
      {
        event: 'server:file.compress',
        serverId: fixtures.server.id,
        properties: { directory: '/a/', files: ['x', 'b/y'] },
      },
    ])
    expect(await isBusy()).toBe(false)
  })

  it('is 504 when it takes too long, and the server counts as busy for as long as it may take', async () => {
    setDaemonTimeout(100)
    fixtures.daemon.respond({ hang: true })
    const { status, body } = await fixtures.post('compress', { files: ['x'] })
    expect([status, body.errors[0].detail]).toEqual([504, expect.stringContaining('still being created')])
    expect(await world.events()).toEqual([])
    expect(await isBusy()).toBe(true)
    world.clock.advance(601)
    expect(await isBusy()).toBe(false)
    // A daemon that works long is not one that is away.
    fixtures.daemon.respond({ json: { name: 'archive.tar.gz' } })
    expect((await fixtures.post('compress', { files: ['x'] })).status).toBe(200)
  })

  it('says why the daemon refuses', async () => {
    fixtures.daemon.respond({ status: 409, json: { error: 'no space left' } })
    const { status, body } = await fixtures.post('compress', { files: ['x'] })
    expect([status, body.errors[0].detail]).toEqual([409, expect.stringContaining('no space left')])
    expect(await isBusy()).toBe(false)
    expect(await world.events()).toEqual([])
  })
})

describe('unpacking', () => {
  it('is done when it answers, and recorded', async () => {
    fixtures.tree.set('/a', null).set('/a/x.zip', 'archive')
    expect((await fixtures.post('decompress', { root: '/a', file: 'x.zip' })).status).toBe(204)
    expect(changing()).toEqual([['POST', 'decompress', { root: '/a', file: 'x.zip' }]])
    expect(await fixtures.entries()).toEqual([
      {
        event: 'server:file.decompress',
        serverId: fixtures.server.id,
        properties: { directory: '/a/', files: 'x.zip' },
      },
    ])
    expect(await isBusy()).toBe(false)
  })

  it('answers 202 when the daemon goes on after the maximum wait, recorded, and the server stays busy', async () => {
    setDaemonTimeout(100)
    fixtures.daemon.respond({ hang: true })
    const answer = await send('decompress', { file: 'x.zip' })
    expect([answer.status, await answer.json()]).toEqual([202, []])
    expect(await world.events()).toEqual(['server:file.decompress'])
    expect(await isBusy()).toBe(true)
    world.clock.advance(301)
    expect(await isBusy()).toBe(false)
  })

  it('is 404 without an archive, 400 for what is none', async () => {
    fixtures.tree.set('/dir', null).set('/a.txt', 'no archive')
    for (const [file, status] of [
      ['nothing.zip', 404],
      ['dir/nothing.zip', 404],
      ['no/thing.zip', 404],
      ['dir', 400],
      ['a.txt', 400],
    ] as const) {
      expect((await fixtures.post('decompress', { root: '/', file })).status, file).toBe(status)
    }
    expect(await world.events()).toEqual([])
    expect(await isBusy()).toBe(false)
  })

  it('leaves no mark when the daemon was unreachable', async () => {
    await fixtures.daemon.close()
    const { startStubDaemon } = await import('../support/stub-daemon.ts')
    expect((await fixtures.post('decompress', { file: 'x.zip' })).status).toBe(504)
    expect(await world.events()).toEqual([])
    Object.assign(fixtures, { daemon: await startStubDaemon() })
  })

  it('together with another keeps the server busy until the time of both is over', async () => {
    fixtures.daemon.respond({ hang: true })
    setDaemonTimeout(150)
    const first = send('decompress', { file: 'x.zip' })
    const second = send('decompress', { file: 'y.zip' })
    expect([(await first).status, (await second).status]).toEqual([202, 202])
    world.clock.advance(400)
    expect(await isBusy()).toBe(true)
    world.clock.advance(201)
    expect(await isBusy()).toBe(false)
  })
})
