import { randomBytes } from 'node:crypto'
import { mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { DaemonOptions, Profile } from '../../src/dev/daemon/daemon.ts'
import { tarOf } from '../support/archives.ts'
import { type DaemonWithBackup, startDaemonWithBackup } from '../support/daemon-backups.ts'
import { until } from '../support/until.ts'
import { callDaemon, discardDaemon, startTestDaemon } from '../support/development-daemon.ts'

let at: DaemonWithBackup

const start = async (options: Partial<DaemonOptions> = {}) => void (at = await startDaemonWithBackup(options))

afterEach(() => at.close())

describe('a restoration', () => {
  it('replaces files of the server, and removes none', async () => {
    await start()
    await mkdir(join(at.folder, 'world'))
    await at.put('world/a', 'from the backup')
    await at.make()
    await at.put('world/a', 'changed since')
    await at.put('world/b', 'made since')
    const viewer = await at.watch()
    expect((await at.restore()).status).toBe(202)
    await at.reported(1, '/restore')
    expect(at.reports('/restore')).toEqual([{ successful: true }])
    expect([await at.onDisk('world/a'), await at.onDisk('world/b')]).toEqual([
      'from the backup',
      'made since',
    ])
    await until(() => expect(viewer.texts('backup restore completed')).toEqual(['']))
    expect(viewer.texts('daemon message')).toEqual(['(restoring): world/a', expect.any(String)])
    expect(await at.spooled()).toEqual([])
  })

  it('removes all of them when requested', async () => {
    await start()
    await at.put('a', 'from the backup')
    await at.make()
    await mkdir(join(at.folder, 'world'))
    await at.put('world/b')
    expect((await at.restore({ truncate_directory: true })).status).toBe(202)
    await at.reported(1, '/restore')
    expect(await readdir(at.folder)).toEqual(['a'])
  })

  it('stops the server first, which cannot be started meanwhile', async () => {
    await start()
    await at.run()
    await at.make()
    const viewer = await at.watch()
    at.daemon.faults.push({ route: 'POST /api/remote/backups/*/restore', effect: 'delay', milliseconds: 500 })
    expect((await at.restore()).status).toBe(202)
    await until(async () => expect((await at.state()).state).toBe('offline'))
    expect((await at.state()).is_suspended).toBe(true)
    viewer.send('set state', 'start')
    await until(() => expect(viewer.texts('daemon error')).toHaveLength(1))
    await until(() => expect(viewer.texts('backup restore completed')).toHaveLength(1))
    expect(viewer.texts('status')).toEqual(['running', 'stopping', 'offline'])
    expect((await at.state()).is_suspended).toBe(false)
    viewer.send('set state', 'start')
    await until(async () => expect((await at.state()).state).toBe('running'))
  })

  it('fails when the server does not stop, which then keeps running', async () => {
    await start({ stopTimeout: 300 })
    const configuration = at.panel.servers.get(at.uuid)!.process_configuration as Record<string, unknown>
    configuration['stop'] = { type: 'command', value: 'unheard' }
    await at.run()
    await at.make()
    await at.put('since')
    expect((await at.restore()).status).toBe(202)
    await at.reported(1, '/restore')
    expect(at.reports('/restore')).toEqual([{ successful: false }])
    expect(await at.onDisk('since')).toBe('since')
    await at.api('POST', '/power', { action: 'kill' })
    await until(async () => expect((await at.state()).state).toBe('offline'))
  })

  it('unsuspends a suspended server, as Wings does', async () => {
    await start()
    await at.make()
    at.panel.servers.get(at.uuid)!.settings['suspended'] = true
    await at.api('POST', '/sync')
    expect((await at.state()).is_suspended).toBe(true)
    expect((await at.restore()).status).toBe(202)
    await until(async () => expect((await at.state()).is_suspended).toBe(false))
    expect((await at.api('POST', '/sync')).status).toBe(204)
    expect((await at.state()).is_suspended).toBe(true)
  })

  it('of a damaged archive fails, and the server can be used', async () => {
    await start()
    await at.put('a', randomBytes(200_000))
    await at.make()
    await truncate(at.place(), 100_000)
    const viewer = await at.watch()
    expect((await at.restore()).status).toBe(202)
    await at.reported(1, '/restore')
    expect(at.reports('/restore')).toEqual([{ successful: false }])
    await until(() => expect(viewer.texts('backup restore completed')).toEqual(['']))
    expect((await at.state()).is_suspended).toBe(false)
    await until(async () => expect(await at.spooled()).toEqual([]))
  })

  it('writes nothing outside of the server, nor through links', async () => {
    await start()
    await at.make()
    const outside = join(at.daemon.dataDirectory, 'outside')
    await mkdir(outside)
    await symlink(outside, join(at.folder, 'link'))
    await writeFile(
      at.place(),
      gzipSync(
        tarOf([
          { path: '../evil', content: 'x' },
          { path: 'link/x', content: 'x' },
        ]),
      ),
    )
    await at.restore()
    await at.reported(1, '/restore')
    expect(at.reports('/restore')).toEqual([{ successful: false }])
    expect(await readdir(outside)).toEqual([])
    expect((await readdir(at.folder)).toSorted()).toEqual(['evil', 'link'])
  })

  it('is refused for what cannot be restored, and then not reported', async () => {
    await start()
    await at.put('a')
    expect((await at.restore({ adapter: 'ftp' })).status).toBe(400)
    expect((await at.restore({ adapter: 's3' })).status).toBe(400)
    expect((await at.restore({ truncate_directory: 'yes' })).status).toBe(400)
    expect((await at.restore()).status).toBe(500)
    expect((await at.api('POST', '/backup/..%2Fstates/restore', { adapter: 'wings' })).status).toBe(500)
    expect((await at.state()).is_suspended).toBe(false)
    expect(at.reports('/restore')).toEqual([])
  })

  it.each<[Profile, string[]]>([
    ['1.11', []],
    ['1.12', ['a']],
    ['1.13', ['a']],
    ['pelican', ['a']],
  ])(
    'of an archive that is missing leaves on %s, when it was to remove all files, %j',
    async (profile, left) => {
      await start({ profile })
      await at.put('a')
      expect((await at.restore({ truncate_directory: true })).status).toBe(500)
      expect(await readdir(at.folder)).toEqual(left)
    },
  )

  it('of a daemon that dies meanwhile is never reported, and its server follows the panel', async () => {
    await start()
    await at.put('a', 'from the backup')
    await at.make()
    await at.put('a', 'changed since')
    at.daemon.faults.push({ route: 'POST /api/remote/backups/*/restore', effect: 'hang' })
    expect((await at.restore()).status).toBe(202)
    await until(async () => expect(await at.onDisk('a')).toBe('from the backup'))
    await at.daemon.close()
    expect(at.reports('/restore')).toEqual([])
    const next = await startTestDaemon(at.panel, { dataDirectory: at.daemon.dataDirectory })
    try {
      await next.ready
      const answer = await callDaemon(next, 'GET', `/api/servers/${at.uuid}`)
      expect(await answer.json()).toMatchObject({ is_suspended: false })
      expect(at.reports('/restore')).toEqual([])
    } finally {
      await discardDaemon(next)
    }
  })
})
