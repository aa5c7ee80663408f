import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PanelProcess, startPanelProcess } from '../support/panel-process.ts'
import { sendRaw } from '../support/raw-http.ts'

/** Debian's package `fail2ban`. */
const program = '/usr/bin/fail2ban-regex'
const hasProgram = existsSync(program)
if (!hasProgram && process.env.CI) throw new Error('fail2ban-regex is missing: install fail2ban.')
if (!hasProgram) process.stderr.write(`Skipped: the filter for fail2ban: there is no ${program}.\n`)

const filter = join(import.meta.dirname, '../../docs/fail2ban/filter.d/roost.conf')
const run = promisify(execFile)

let panel: PanelProcess
beforeAll(async () => {
  panel = await startPanelProcess({ HOST: '127.0.0.1', LOG_ADDRESSES: 'true' })
})
afterAll(() => panel?.stop())

/** Signs in as a browser of this address does. */
async function signIn(from: string, password: string): Promise<number> {
  const url = new URL(panel.bootstrap.url)
  const page = await sendRaw(url, 'GET', '/auth/login', { headers: { host: url.host }, from })
  const cookies = page.headers.getSetCookie().map((line) => line.split(';')[0])
  const csrf = /name="csrf-token" content="([^"]+)"/.exec(page.bytes.toString())?.[1] ?? ''
  const { status } = await sendRaw(url, 'POST', '/auth/login', {
    headers: {
      host: url.host,
      origin: url.origin,
      accept: 'application/json',
      'content-type': 'application/json',
      'x-xsrf-token': csrf,
      cookie: cookies.join('; '),
    },
    body: JSON.stringify({ user: panel.bootstrap.user.username, password }),
    from,
  })
  return status
}

/** Returns the addresses that the filter finds in the lines which the panel has printed. */
async function matches(lines: string): Promise<string[]> {
  const file = join(panel.directory, 'panel.log')
  await writeFile(file, lines)
  const { stdout } = await run(program, ['--out', 'ip', file, filter])
  return stdout.split('\n').filter((line) => line !== '')
}

describe('the log with addresses', () => {
  it.skipIf(!hasProgram)('bans those that try passwords, and not those that sign in', async () => {
    expect(await signIn('127.0.0.2', 'wrong one')).toBe(400)
    expect(await signIn('127.0.0.2', 'another wrong one')).toBe(400)
    expect(await signIn('127.0.0.3', panel.bootstrap.user.password)).toBe(200)
    await sendRaw(new URL(panel.bootstrap.url), 'GET', '/api/client', { from: '127.0.0.4' })
    await panel.asPlayer('GET', '')
    await expect.poll(() => panel.output()).toContain('"route":"/api/client"')
    await expect.poll(() => panel.output()).toContain('"address":"127.0.0.4"}')
    expect(await matches(panel.output())).toEqual(['127.0.0.2', '127.0.0.2'])
  })

  it.skipIf(!hasProgram)('takes no address from what a caller sends', async () => {
    const url = new URL(panel.bootstrap.url)
    await sendRaw(url, 'POST', '/auth/login?"address":"192.0.2.9"}', {
      headers: { host: url.host, 'x-forwarded-for': '192.0.2.9', 'user-agent': '"address":"192.0.2.9"}' },
      from: '127.0.0.5',
    })
    await expect.poll(() => panel.output()).toContain('"address":"127.0.0.5"}')
    expect(panel.output()).not.toContain('192.0.2.9')
  })

  it('has no addresses unless the operator wants them', async () => {
    await panel.stop()
    panel = await startPanelProcess({ HOST: '127.0.0.1' })
    await panel.asPlayer('GET', '')
    await expect.poll(() => panel.output()).toContain('"route":"/api/client"')
    expect(panel.output()).not.toContain('"address":')
  })
})
