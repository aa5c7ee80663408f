import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CommandLine, openCommandLine } from './command-line.ts'

const [oldKey, newKey] = ['old', 'new'].map((id) => `${id}:${randomBytes(32).toString('base64')}`)

describe('a change of keys', () => {
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

  it('begins with secrets under the old key', async () => {
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
    expect((await before.panel('secrets:reseal')).stdout).toMatch(/^Only old is needed/m)
  })

  it('is counted without changing anything', async () => {
    const { code, body } = await both.json('secrets:reseal', '--check')
    expect({ code, body }).toMatchObject({
      code: 1,
      body: { newest: 'new', done: null, left: { old: 1 } },
    })
  })

  it('is done by the panel that runs, so that the old key is needed no more', async () => {
    const running = await both.start()
    const { code, stdout } = await both.panel('secrets:reseal')
    await running.stop()
    expect(code).toBe(0)
    expect(stdout).toMatch(/^settings\.value +1 sealed again, now 1 under new$/m)
    expect(stdout).toMatch(/^Only new is needed: other keys can go\.$/m)
    expect(await after.json('secrets:reseal', '--check')).toMatchObject({ code: 0, body: { left: {} } })
  })

  it('tells what still needs a key that is gone', async () => {
    const { code, stdout } = await before.panel('secrets:reseal')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^settings\.value +0 sealed again, 1 do not open, now 1 under new$/m)
    expect(stdout).toMatch(/^Still needed: 1 under new\.$/m)
  })
})
