import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Bootstrap } from '../../src/platform/local/demo.ts'
import { freePort } from '../support/panel-process.ts'
import { eventually, type RunningProcess, startProcess } from '../support/processes.ts'

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'pipe' })

/** A file system of its own in a file, as a disk that can break. */
type Disk = {
  path: string
  breakIt: () => void
  repair: () => void
  /** Mounts a repaired copy in its place, while programs still use the broken one. */
  replace: () => void
  remove: () => void
}

/** Throws where this account cannot mount a file. */
function openDisk(mebibytes: number): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'roost-broken-'))
  const [image, path] = [join(folder, 'image'), join(folder, 'disk')]
  const mount = (file = image) => {
    run('mount', '-o', 'loop', file, path)
    run('chmod', '711', path, folder)
  }
  // 1: errors were corrected.
  const check = (file: string) => run('sh', '-c', 'e2fsck -fp "$1" >/dev/null || [ $? -le 1 ]', 'sh', file)
  try {
    writeFileSync(image, '')
    truncateSync(image, mebibytes * 2 ** 20)
    run('mkfs.ext4', '-q', '-F', image)
    run('mkdir', path)
    mount()
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  return {
    path,
    // What the kernel does by itself after an error of the disk: nothing more is written.
    breakIt: () => run('mount', '-o', 'remount,abort', path),
    repair: () => {
      run('umount', path)
      check(image)
      mount()
    },
    replace: () => {
      run('umount', '--lazy', path)
      const copy = join(folder, 'copy')
      run('cp', '--sparse=always', image, copy)
      check(copy)
      mount(copy)
    },
    remove: () => {
      run('umount', path)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function canBreakDisks(): boolean {
  try {
    openDisk(8).remove()
    return true
  } catch {
    console.log('SKIPPED a disk that becomes read-only: this account cannot mount a file with ext4.')
    return false
  }
}

describe.skipIf(!canBreakDisks())('a disk that becomes read-only', { timeout: 300_000 }, () => {
  let disk: Disk
  let panel: RunningProcess
  let bootstrap: Bootstrap
  let port: number
  const data = () => join(disk.path, 'data')
  const start = async () => {
    panel = await startProcess('functions/all/start.js', {
      // One that starts anew in its process opens the same port again.
      env: { PORT: String(port), DATA_DIR: data(), LOG_LEVEL: 'warn' },
      ready: /Roost serves at/,
    })
    bootstrap = JSON.parse(await readFile(join(data(), 'bootstrap.json'), 'utf8')) as Bootstrap
  }

  beforeEach(async () => {
    disk = openDisk(400)
    port = await freePort()
    await mkdir(data(), { mode: 0o711 })
    await start()
  }, 90_000)
  afterEach(async () => {
    await panel?.kill()
    // The demo's daemon ends with the panel, its game server a moment later.
    await eventually(() => {
      try {
        disk.remove()
        return true
      } catch {
        return false
      }
    })
  })

  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${bootstrap.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${bootstrap.application_key}`,
        'content-type': 'application/json',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(20_000),
    })
    return { status: answer.status, body: (await answer.json()) as any }
  }
  let serial = 0
  const write = () =>
    call('POST', '/api/application/locations', { short: `disk${(serial += 1)}`, long: 'Broken' })
  const locations = () => call('GET', '/api/application/locations?filter[long]=Broken')

  it('is told by refusals, /health and the log; reading goes on, and nothing is lost over a repair', async () => {
    expect((await write()).status).toBe(201)
    // As the system does after some seconds.
    run('sync', '--file-system', disk.path)
    disk.breakIt()
    for (let writes = 0; writes < 20; writes += 1) {
      const { status, body } = await write()
      expect([status, body.errors[0].code, body.errors[0].detail]).toEqual([
        503,
        'ServiceUnavailableHttpException',
        'The database of the panel cannot write right now.',
      ])
    }
    const read = await locations()
    expect([read.status, read.body.data.length]).toEqual([200, 1])
    expect((await fetch(`${bootstrap.url}/auth/login`)).status).toBe(200)
    await eventually(async () => {
      const { status, body } = await call('GET', '/health')
      return status === 503 && body.parts.database === 'failed' && body.parts.objects === 'failed'
    }, 40)
    const said = panel
      .output()
      .match(/"message":"The disk of the embedded database is read-only, or broken\..*/g)
    expect(said).toHaveLength(1)
    expect(said?.[0]).toContain(`${data()}/database. Look for its errors in the log of the system`)

    panel.child.kill('SIGTERM')
    const ended = await once(panel.child, 'exit')
    expect(ended, panel.output()).toEqual([0, null])
    await expect(start()).rejects.toThrow(/cannot be written: its disk is read-only \(EROFS\)/)
    await eventually(() => {
      try {
        disk.repair()
        return true
      } catch {
        return false
      }
    })
    await start()
    expect((await locations()).body.data).toHaveLength(1)
    expect((await write()).status).toBe(201)
    expect((await call('GET', '/health')).status).toBe(200)
  })

  it('is left for the one that is mounted in its place, without another start', async () => {
    expect((await write()).status).toBe(201)
    run('sync', '--file-system', disk.path)
    disk.breakIt()
    expect((await write()).status).toBe(503)
    disk.replace()
    await eventually(async () => (await write().catch(() => null))?.status === 201, 150)
    expect((await locations()).body.data.length).toBeGreaterThanOrEqual(2)
    expect(panel.child.exitCode).toBeNull()
    expect(panel.output()).toContain('Another disk is mounted in DATA_DIR: the panel starts anew on it.')
    // The lock is held on the disk that is used.
    await expect(start()).rejects.toThrow('is in use by process')
    panel.child.kill('SIGTERM')
    expect(await once(panel.child, 'exit')).toEqual([0, null])
  })
})
