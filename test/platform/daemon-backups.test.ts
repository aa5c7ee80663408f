import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { DaemonOptions, Profile } from '../../src/dev/daemon/daemon.ts'
import { type DaemonWithBackup, failedReport, startDaemonWithBackup } from '../support/daemon-backups.ts'
import { callDaemon, discardDaemon, signToken, startTestDaemon } from '../support/development-daemon.ts'
import { until } from '../support/until.ts'

let at: DaemonWithBackup

const start = async (options: Partial<DaemonOptions> = {}) => void (at = await startDaemonWithBackup(options))

afterEach(() => at.close())

describe('a backup on the node', () => {
  it('contains every regular file of the server, byte for byte, and is reported with its checksum', async () => {
    await start()
    const bytes = randomBytes(3_000_000)
    const long = `${'a'.repeat(120)}/${'b'.repeat(120)}/${'c'.repeat(90)}`
    await mkdir(join(at.folder, 'world/region'), { recursive: true })
    await mkdir(join(at.folder, 'empty'))
    await mkdir(join(at.folder, `${'a'.repeat(120)}/${'b'.repeat(120)}`), { recursive: true })
    await at.put('world/region/r.mca', bytes)
    await at.put('world/void', Buffer.alloc(5_000_000))
    await at.put('@Überblick 世界.txt', 'names')
    await at.put(long, 'long')
    await at.put('.hidden', '')
    await at.put('start.sh', 'echo')
    await chmod(join(at.folder, 'start.sh'), 0o755)
    await utimes(
      join(at.folder, 'start.sh'),
      new Date('2024-03-15T12:00:00Z'),
      new Date('2024-03-15T12:00:00Z'),
    )
    await symlink('/etc/passwd', join(at.folder, 'link'))
    await symlink('/etc', join(at.folder, 'links'))
    const socket = createServer().listen(join(at.folder, 's'))
    try {
      const viewer = await at.watch()
      await at.make()
      const archive = await readFile(at.place())
      const checksum = createHash('sha1').update(archive).digest('hex')
      expect(at.reports()).toEqual([
        { checksum, checksum_type: 'sha1', size: archive.length, successful: true, parts: null },
      ])
      await until(() => expect(viewer.texts('backup completed')).toHaveLength(1))
      expect(JSON.parse(viewer.texts('backup completed')[0] ?? '')).toEqual({
        uuid: at.backup,
        is_successful: true,
        checksum,
        checksum_type: 'sha1',
        file_size: archive.length,
      })
      expect(archive.length).toBeLessThan(4_000_000)
    } finally {
      socket.close()
    }
    const paths = ['.hidden', '@Überblick 世界.txt', long, 'start.sh', 'world/region/r.mca', 'world/void']
    expect(await at.names()).toEqual(paths.toSorted())
    for (const name of await readdir(at.folder)) await rm(join(at.folder, name), { recursive: true })
    expect((await at.restore()).status).toBe(202)
    await at.reported(1, '/restore')
    expect((await readFile(join(at.folder, 'world/region/r.mca'))).equals(bytes)).toBe(true)
    expect((await readFile(join(at.folder, 'world/void'))).equals(Buffer.alloc(5_000_000))).toBe(true)
    expect([
      await at.onDisk(long),
      await at.onDisk('@Überblick 世界.txt'),
      await at.onDisk('.hidden'),
    ]).toEqual(['long', 'names', ''])
    const script = await stat(join(at.folder, 'start.sh'))
    expect([script.mode & 0o777, script.mtime.toISOString()]).toEqual([0o755, '2024-03-15T12:00:00.000Z'])
  })

  it.each([
    ['*.log\n!keep.log\nlogs/\n/top', ['deep/top', 'keep.log', 'world.dat']],
    ['# a comment\n\n**/deep\r\nworld.???\n', ['a.log', 'keep.log', 'logs/x', 'top']],
    ['*', []],
  ])('leaves out files that match %j', async (ignored, expected) => {
    await start()
    for (const path of ['logs', 'deep']) await mkdir(join(at.folder, path))
    for (const path of ['a.log', 'keep.log', 'logs/x', 'deep/top', 'top', 'world.dat']) await at.put(path)
    await at.put('.pteroignore', 'world.dat')
    await at.make({ ignore: `${ignored}\n.pteroignore` })
    expect(await at.names()).toEqual(expected)
  })

  it.each([
    ['short', 'a.log', ['.pteroignore', 'b']],
    ['longer than 32 KiB', `a.log\n${'#'.repeat(32 * 1024)}`, ['.pteroignore', 'a.log', 'b']],
  ])(
    'uses a .pteroignore that is %s when the order has no ignored files',
    async (_name, content, expected) => {
      await start()
      for (const path of ['a.log', 'b']) await at.put(path)
      await at.put('.pteroignore', content)
      await at.make()
      expect(await at.names()).toEqual(expected)
    },
  )

  it('ignores a .pteroignore that is a link', async () => {
    await start()
    await at.put('a.log')
    await at.put('lines', 'a.log')
    await symlink('lines', join(at.folder, '.pteroignore'))
    await at.make()
    expect(await at.names()).toEqual(['a.log', 'lines'])
  })

  it('of a server without files can be created and restored', async () => {
    await start()
    await at.make()
    expect(at.reports()).toEqual([expect.objectContaining({ successful: true, parts: null })])
    expect(await at.names()).toEqual([])
    expect((await at.restore()).status).toBe(202)
    await at.reported(1, '/restore')
    expect(at.reports('/restore')).toEqual([{ successful: true }])
  })

  it('is refused with an invalid adapter or UUID', async () => {
    await start()
    expect((await at.order({ ignore: ['a'] })).status).toBe(400)
    expect((await at.order({ uuid: '../../x' })).status).toBe(400)
    expect((await at.order({ adapter: 'ftp' })).status).toBe(500)
    expect((await at.api('POST', '/backup', '')).status).toBe(400)
    expect((await callDaemon(at.daemon, 'POST', `/api/servers/${randomUUID()}/backup`, {})).status).toBe(404)
    expect(existsSync(join(at.daemon.dataDirectory, 'backups'))).toBe(false)
  })

  it('that fails is reported as such, and leaves nothing', async () => {
    await start()
    const viewer = await at.watch()
    await writeFile(join(at.daemon.dataDirectory, 'backups'), 'no folder')
    expect((await at.order()).status).toBe(202)
    await at.reported()
    expect(at.reports()).toEqual([failedReport])
    await until(() => expect(viewer.texts('backup completed')).toHaveLength(1))
    expect(JSON.parse(viewer.texts('backup completed')[0] ?? '')).toEqual({
      uuid: at.backup,
      is_successful: false,
      checksum: '',
      checksum_type: 'sha1',
      file_size: 0,
    })
  })

  it.each([400, 404, 503])('is removed when the panel answers its report with %i', async (status) => {
    await start()
    const viewer = await at.watch()
    at.panel.refuse = ({ path }) => (path === `/backups/${at.backup}` ? status : undefined)
    await at.put('a')
    await at.make()
    await until(() => expect(existsSync(at.place())).toBe(false))
    expect(at.reports()[0]).toMatchObject({ successful: true })
    if (status < 500) expect(at.reports()).toHaveLength(1)
    else expect(at.reports().length).toBeGreaterThan(1)
    expect(viewer.texts('backup completed')).toEqual([])
  })

  it('is removed on demand, once', async () => {
    await start()
    await at.make()
    expect((await at.api('DELETE', `/backup/${at.backup}`)).status).toBe(204)
    expect(existsSync(at.place())).toBe(false)
    expect((await at.api('DELETE', `/backup/${at.backup}`)).status).toBe(404)
  })

  it('is found by a UUID only, whatever archives are elsewhere on the node', async () => {
    await start()
    await at.make()
    const outside = join(at.daemon.dataDirectory, 'outside.tar.gz')
    await writeFile(outside, 'not a backup')
    expect((await at.api('DELETE', '/backup/..%2Foutside')).status).toBe(404)
    expect(existsSync(outside)).toBe(true)
    const claims = { scope: 'backup-download', unique_id: randomUUID(), backup_uuid: '../outside' }
    const signed = signToken(at.uuid, claims)
    expect((await fetch(`${at.daemon.url}/download/backup?token=${signed}`)).status).toBe(404)
  })

  it('is kept when its server is removed', async () => {
    await start()
    await at.put('a')
    await at.make()
    expect((await at.api('DELETE', '')).status).toBe(204)
    await until(() => expect(existsSync(at.folder)).toBe(false))
    expect(await at.names()).toEqual(['a'])
  })

  it('is in a folder of its server only on pelican', async () => {
    await start({ profile: 'pelican' })
    await at.put('a')
    await at.make()
    expect(existsSync(at.place(at.uuid))).toBe(true)
    expect(existsSync(at.place())).toBe(false)
  })
})

describe('a download of a backup', () => {
  const token = (claims: object = {}) =>
    signToken(at.uuid, {
      scope: 'backup-download',
      backup_uuid: at.backup,
      unique_id: randomUUID(),
      ...claims,
    })
  const download = (signed: string) => fetch(`${at.daemon.url}/download/backup?token=${signed}`)

  it('gives the archive once', async () => {
    await start()
    await at.put('a', randomBytes(500_000))
    await at.make()
    const signed = token()
    const answer = await download(signed)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(at.reports()[0].size),
      'content-disposition': `attachment; filename="${at.backup}.tar.gz"`,
    })
    expect(Buffer.from(await answer.arrayBuffer()).equals(await readFile(at.place()))).toBe(true)
    expect((await download(signed)).status).toBe(404)
  })

  it.each<Profile>(['1.11', '1.13'])('is refused on %s', async (profile) => {
    await start({ profile })
    await at.make()
    const statusOf = async (signed: string) => (await download(signed)).status
    expect(await statusOf(token({ backup_uuid: randomUUID() }))).toBe(404)
    expect(await statusOf(token({ backup_uuid: undefined }))).toBe(404)
    expect(await statusOf(token({ backup_uuid: '../states' }))).toBe(404)
    expect(await statusOf(token({ server_uuid: randomUUID() }))).toBe(404)
    expect(await statusOf(token({ exp: 1 }))).toBe(500)
    expect(await statusOf(`${token()}x`)).toBe(500)
    expect(await statusOf(token({ scope: 'file-download' }))).toBe(profile === '1.11' ? 200 : 404)
  })
})

describe('a daemon that misbehaves', () => {
  const route = 'POST /api/remote/backups/*'

  it('reports again when the response is lost', async () => {
    await start()
    at.daemon.faults.push({ route, effect: 'drop', times: 1 })
    await at.order()
    await at.reported(2)
    expect(at.reports()[0]).toEqual(at.reports()[1])
    expect(existsSync(at.place())).toBe(true)
  })

  it('removes the archive when the panel refuses the second report, as Wings does', async () => {
    await start()
    at.daemon.faults.push({ route, effect: 'drop', times: 1 })
    at.panel.refuse = () => (at.reports().length > 1 ? 400 : undefined)
    await at.order()
    await at.reported(2)
    await until(() => expect(existsSync(at.place())).toBe(false))
    expect(at.reports()).toHaveLength(2)
  })

  it('reports twice', async () => {
    await start()
    at.daemon.faults.push({ route, effect: 'duplicate', times: 1 })
    at.daemon.faults.push({ route: `${route}/restore`, effect: 'duplicate', times: 1 })
    await at.order()
    await at.reported(2)
    expect(existsSync(at.place())).toBe(true)
    await at.restore()
    await at.reported(2, '/restore')
  })

  it('dies before it reports: the archive is kept, and no later daemon reports it', async () => {
    await start()
    await at.put('a')
    at.daemon.faults.push({ route, effect: 'hang' })
    expect((await at.order()).status).toBe(202)
    await until(async () => expect(await at.names().catch(() => [])).toEqual(['a']))
    await at.daemon.close()
    expect(at.reports()).toEqual([])
    const next = await startTestDaemon(at.panel, { dataDirectory: at.daemon.dataDirectory })
    try {
      await next.ready
      await until(() => expect(at.panel.callsTo('POST', '/servers/reset')).toHaveLength(2))
      expect(at.reports()).toEqual([])
      expect(await at.names()).toEqual(['a'])
      expect((await callDaemon(next, 'DELETE', `/api/servers/${at.uuid}/backup/${at.backup}`)).status).toBe(
        204,
      )
    } finally {
      await discardDaemon(next)
    }
  })

  it('dies while it packs: the incomplete archive is kept', async () => {
    await start()
    await at.put('world', randomBytes(60_000_000))
    expect((await at.order()).status).toBe(202)
    await until(() => expect(existsSync(at.place())).toBe(true))
    await at.daemon.close()
    expect(at.reports()).toEqual([])
    const cut = await readFile(at.place())
    expect(() => gunzipSync(cut)).toThrow()
  })
})
