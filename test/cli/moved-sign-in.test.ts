import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { httpOauth } from '../../src/adapters/oauth.ts'
import { readEnv } from '../../src/platform/env.ts'
import { shareDataDirectory } from '../../src/platform/local/data-directory.ts'
import { openLocalServices } from '../../src/platform/local/services.ts'
import { listenHttp } from '../../src/platform/node-http.ts'
import { serve } from '../../src/platform/serve.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { type AccountProviders, startAccountProviders } from '../support/account-providers.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { freePort } from '../support/panel-process.ts'
import { codesOf } from '../support/totp-codes.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase } from './old-database.ts'
import { appKeyText, known } from './old-panel.ts'
import { openPanelBrowser, type PanelBrowser } from './sign-in.ts'

const hasServers = (await findPostgres('signing in by links that moved in')) && hasMysql

const client = { id: '123456789012345678', secret: 'the secret of the old panel' }
const links = {
  ada: { github: 583_231 },
  bob: { google: '109876543210987654321', discord: '80351110224678912', github: 583_232 },
}
const notLinked = /is not linked to an account here/

describe.skipIf(!hasServers)('signing in by a link that moved in from Pelican', { timeout: 60_000 }, () => {
  let database: Awaited<ReturnType<typeof createDatabase>>
  let cli: CommandLine
  let old: OldDatabase
  let providers: AccountProviders
  let url: string
  const closers: (() => unknown)[] = []

  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    database = await createDatabase()
    const environment = { DATABASE_URL: database.url, APP_URL: url, PORT: String(port), HOST: '127.0.0.1' }
    cli = await openCommandLine(environment)
    await cli.script('scripts/migrate.ts')
    old = await createOldDatabase('pelican')
    for (const [name, oauth] of Object.entries(links))
      await old.query(`update users set oauth = '${JSON.stringify(oauth)}' where username = '${name}'`)
    providers = await startAccountProviders(client)
    const registrations = ['GOOGLE', 'GITHUB', 'DISCORD'].flatMap((name) => [
      `OAUTH_${name}_ENABLED=true`,
      `OAUTH_${name}_CLIENT_ID=${client.id}`,
      `OAUTH_${name}_CLIENT_SECRET="${client.secret}"`,
    ])
    const env = join(cli.directory, 'old.env')
    await writeFile(env, [`APP_KEY=${appKeyText}`, ...registrations].join('\n'))
    const { code, body } = await cli.json('import:pelican', '--database', old.url, '--env', env)
    expect([code, body.error]).toEqual([0, undefined])
    await servePanel(environment)
  }, 180_000)
  afterAll(async () => {
    for (const close of closers.toReversed()) await close()
    await providers?.stop()
    await cli?.remove()
    await old?.drop()
    await database?.drop()
  })

  /** Serves the panel into which it moved; requests to providers reach those of the test. */
  async function servePanel(environment: Record<string, string>): Promise<void> {
    const env = readEnv({ ...environment, DATA_DIR: cli.directory })
    const directory = await shareDataDirectory(env.DATA_DIR)
    const deliver = () => Promise.reject(new Error('No job is delivered here.'))
    const { services } = await openLocalServices(env, { directory, url, deliver })
    Object.assign(services, { oauth: httpOauth(providers.send) })
    const app = serve(
      { services: async () => services, clientAddress: () => '192.0.2.1', waitUntil: () => undefined },
      ...surfaces,
    )
    const listener = await listenHttp(env, (request, bindings) => app.fetch(request, bindings))
    closers.push(directory.release, services.close, () => listener.close(Date.now()))
  }

  /** Follows the redirects through the provider; returns where they end. */
  async function pass(browser: PanelBrowser, provider: string): Promise<string> {
    const start = await browser.follow(`/auth/oauth/${provider}`)
    expect(start.hostname).toMatch(new RegExp(`${provider}\\.com$`))
    const approved = await providers.send(start.href)
    const back = new URL(approved.headers.get('location') ?? '')
    expect([back.origin, back.pathname]).toEqual([url, `/auth/oauth/${provider}/callback`])
    return (await browser.follow(`${back.pathname}${back.search}`)).pathname
  }

  const whoIs = async (browser: PanelBrowser) => {
    const { status, body } = await browser.call('/api/client/account')
    return status === 200 ? [body.attributes.username, body.attributes.email] : null
  }

  it.each([
    ['google', '109876543210987654321'],
    ['discord', '80351110224678912'],
    ['github', '583232'],
  ] as const)('opens the account that had it there: %s', async (provider, subject) => {
    providers.signIn(provider, subject)
    const browser = await openPanelBrowser(url)
    expect(await whoIs(browser)).toBeNull()
    expect(await pass(browser, provider)).toBe('/')
    expect(await whoIs(browser)).toEqual(['bob', 'bob@old.example'])
    expect((await browser.call(`/api/client/servers/deadbeef`)).status).toBe(200)
  })

  it('still asks for the second factor that moved', async () => {
    providers.signIn('github', '583231')
    const browser = await openPanelBrowser(url)
    expect(await pass(browser, 'github')).not.toBe('/')
    expect(await whoIs(browser)).toBeNull()
    const { body } = await browser.call('/auth/methods?oauth=checkpoint')
    const answer = await browser.call('/auth/login/checkpoint', {
      confirmation_token: body.confirmation_token,
      authentication_code: await codesOf(known.totpSecret)(),
    })
    expect([answer.status, await whoIs(browser)]).toEqual([200, ['ada', 'ada@old.example']])
  })

  it.each([
    ['google', '109876543210987654322'],
    ['discord', '583232'],
    ['github', '80351110'],
  ] as const)('refuses an account at %s that no user was linked to', async (provider, subject) => {
    providers.signIn(provider, subject)
    const browser = await openPanelBrowser(url)
    expect(await pass(browser, provider)).toBe('/auth/login')
    expect((await browser.call('/auth/methods')).body.error).toMatch(notLinked)
    expect(await whoIs(browser)).toBeNull()
  })
})
