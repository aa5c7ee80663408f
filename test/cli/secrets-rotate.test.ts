import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendToControlSocket } from '../../src/platform/local/control-socket.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const [oldKey, newKey] = ['old', 'new'].map((id) => `${id}:${randomBytes(32).toString('base64')}`)

describe('rotating the keys', () => {
  let before: CommandLine
  let both: CommandLine
  let after: CommandLine

  beforeAll(async () => {
    before = await openCommandLine({ APP_KEYS: `${oldKey}` })
    const sameData = { DATA_DIR: before.directory }
    both = await openCommandLine({ APP_KEYS: `${newKey},${oldKey}`, ...sameData })
    after = await openCommandLine({ APP_KEYS: `${newKey}`, ...sameData })
  })
  afterAll(() => Promise.all([before, both, after].map((cli) => cli?.remove())))

  it('begins with secrets under the old key', { timeout: 120_000 }, async () => {
    const running = await before.start()
    await before.panel('user:create', '--email', 'a@roost.example', '--username', 'ada', '--admin')
    const { body } = await before.json('key:create', '--user', 'ada', '--type', 'application')
    const answer = await fetch(`${running.url}/api/application/settings`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${body.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ captcha: { secret: 'secret of the captcha' } }),
    })
    expect(answer.status).toBe(200)
    await running.stop()
    expect((await before.panel('secrets:rotate')).stdout).toMatch(/^Only old is needed/m)
  })

  it('is counted without changing anything', async () => {
    const { code, body } = await both.json('secrets:rotate', '--check')
    expect({ code, body }).toMatchObject({
      code: 1,
      body: { newest: 'new', done: null, left: { old: 1 } },
    })
  })

  it('is done by the panel that runs, so that the old key is needed no more', async () => {
    const running = await both.start()
    const { code, stdout } = await both.panel('secrets:rotate')
    await running.stop()
    expect(code).toBe(0)
    expect(stdout).toMatch(/^settings\.value +1 re-encrypted, now 1 under new$/m)
    expect(stdout).toMatch(/^Only new is needed: remove other keys from APP_KEYS\.$/m)
    expect(await after.json('secrets:rotate', '--check')).toMatchObject({ code: 0, body: { left: {} } })
  })

  it('tells what still needs a key that is gone', async () => {
    const { code, stdout } = await before.panel('secrets:rotate')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^settings\.value +0 re-encrypted, 1 cannot be decrypted, now 1 under new$/m)
    expect(stdout).toMatch(/^Still needed: 1 under new\.$/m)
  })

  it('answers to the verb of earlier versions, which is not listed', async () => {
    const today = await after.json('secrets:rotate', '--check')
    expect(await after.json('secrets:reseal', '--check')).toEqual(today)
    expect((await after.panel('secrets:reseal', '--help')).stdout).toContain('panel -- secrets:rotate ')
    const { stdout } = await after.panel('--help')
    expect(stdout).toContain('  secrets:rotate ')
    expect(stdout).not.toContain('secrets:reseal')
  })

  it.each(['secrets:rotate', 'secrets:reseal'])('is understood on the control socket as %s', async (verb) => {
    const running = await after.start()
    const response = await sendToControlSocket(before.directory, { verb, input: { check: true } })
    await running.stop()
    expect(response?.answer).toMatchObject({ output: { newest: 'new', left: {} } })
  })
})
