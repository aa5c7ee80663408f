import { once } from 'node:events'
import { appendFileSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Bootstrap } from '../../src/platform/local/demo.ts'
import { canMount, mountDisk, unmountDisk } from '../support/memory-disk.ts'
import { eventually, type RunningProcess, startProcess } from '../support/processes.ts'

/** Writes a file until the disk has no byte left. */
function fill(path: string): void {
  const piece = Buffer.alloc(64 * 1024)
  try {
    for (;;) appendFileSync(path, piece)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

describe.skipIf(!canMount('a full disk'))('disk full while running', { timeout: 180_000 }, () => {
  let disk: string
  let ballast: string
  let panel: RunningProcess
  let bootstrap: Bootstrap
  const start = () =>
    startProcess('functions/all/start.js', {
      env: { PORT: '0', DATA_DIR: join(disk, 'data'), LOG_LEVEL: 'off' },
      ready: /Roost serves at/,
    })

  beforeEach(async () => {
    disk = mountDisk(320)
    ballast = join(disk, 'ballast')
    panel = await start()
    bootstrap = JSON.parse(await readFile(join(disk, 'data', 'bootstrap.json'), 'utf8')) as Bootstrap
  }, 90_000)
  afterEach(async () => {
    await panel?.kill()
    // The demo's daemon ends with the panel, its game server a moment later.
    await eventually(() => {
      try {
        unmountDisk(disk)
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
    })
    return { status: answer.status, body: answer.status === 204 ? null : ((await answer.json()) as any) }
  }
  let serial = 0
  const write = () =>
    call('POST', '/api/application/locations', { short: `disk${(serial += 1)}`, long: 'Full' })
  const health = async () => {
    const answer = await fetch(`${bootstrap.url}/health`)
    return [answer.status, ((await answer.json()) as any).parts.database]
  }

  it('refuses writes with 507, reads on, says so in /health, and recovers by itself', async () => {
    expect((await write()).status).toBe(201)
    fill(ballast)
    for (let writes = 0; writes < 50; writes += 1) {
      const { status, body } = await write()
      expect([status, body.errors[0].code]).toEqual([507, 'InsufficientStorageHttpException'])
    }
    const { status, body } = await call('GET', '/api/application/locations?filter[long]=Full')
    expect([status, body.data.length]).toEqual([200, 1])
    expect((await fetch(`${bootstrap.url}/auth/login`)).status).toBe(200)
    await eventually(async () => (await health()).join() === '503,failed', 40)
    rmSync(ballast)
    expect((await write()).status).toBe(201)
    await eventually(async () => (await health()).join() === '200,ok', 40)
  })

  it('ends in order, starts again only with space, and has lost nothing', async () => {
    expect((await write()).status).toBe(201)
    fill(ballast)
    expect((await write()).status).toBe(507)
    panel.child.kill('SIGTERM')
    const [code] = await once(panel.child, 'exit')
    expect(code).toBe(0)
    await expect(start()).rejects.toThrow(
      /The panel could not start: The disk of \S+ is full: \d+ MiB are free, and the embedded database needs 48\./,
    )
    rmSync(ballast)
    panel = await start()
    bootstrap = JSON.parse(await readFile(join(disk, 'data', 'bootstrap.json'), 'utf8')) as Bootstrap
    const { body } = await call('GET', '/api/application/locations?filter[long]=Full')
    expect(body.data).toHaveLength(1)
    expect((await write()).status).toBe(201)
  })
})

describe.skipIf(!canMount('a full disk'))('a first start on a disk that is too small', () => {
  it('ends with 1 and names the cause', { timeout: 60_000 }, async () => {
    const disk = mountDisk(60)
    try {
      const started = startProcess('functions/all/start.js', {
        env: { PORT: '0', DATA_DIR: join(disk, 'data') },
        ready: /Roost serves at/,
      })
      await expect(started).rejects.toThrow(/The disk of \S+ is full: \d+ MiB are free/)
    } finally {
      unmountDisk(disk)
    }
  })
})
