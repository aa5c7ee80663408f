import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { handler } from '../../functions/browser/lambda.ts'
import { startNode } from '../../src/platform/node.ts'
import { browser } from '../../src/surfaces/browser.ts'
import type { Answer } from '../support/answers.ts'
import {
  type CloudServices,
  findPostgres,
  openCloudServices,
  stubEnvironment,
} from '../support/cloud-services.ts'
import { callThroughGateway } from '../support/lambda-gateway.ts'
import { sendRaw } from '../support/raw-http.ts'
import { startWorkers } from '../support/workers.ts'

const hasPostgres = await findPostgres('files of the application on each platform')
const origin = 'https://panel.example.com'
const headers = { host: 'panel.example.com' }

type Get = (path: string, more?: Record<string, string>) => Promise<Answer>

/** What browsers and caches go by. */
const judged = [
  'content-type',
  'cache-control',
  'x-content-type-options',
  'content-security-policy',
  'set-cookie',
]
const seen = ({ status, headers: sent }: Answer) => ({
  status,
  ...Object.fromEntries(judged.map((name) => [name, sent.get(name)?.toLowerCase() ?? null])),
})

describe.skipIf(!hasPostgres)('Files of the application', () => {
  let services: CloudServices
  let directory: string
  const closers: (() => Promise<unknown>)[] = []
  const platforms = new Map<string, Get>()
  let names: string[]

  beforeAll(async () => {
    names = await readdir('dist/web/assets')
    services = await openCloudServices()
    directory = await mkdtemp(join(tmpdir(), 'roost-assets-'))
    const environment = { ...services.environment, APP_URL: origin }
    stubEnvironment(environment)
    platforms.set('Lambda', (path, more) =>
      callThroughGateway(handler, 'GET', path, { headers: { ...headers, ...more }, sourceIp: '192.0.2.1' }),
    )
    const workers = await startWorkers([{ environment: 'browser', secrets: environment }])
    closers.push(workers.close)
    // For a host among its routes the harness asks the worker itself, which has no files.
    platforms.set('Workers', (path, more) => sendRaw(workers.url, 'GET', path, { headers: more ?? {} }))
    const node = { PORT: '0', HOST: '127.0.0.1', DATA_DIR: directory, DEMO: 'false' }
    const panel = await startNode(node, [browser], async () => undefined, { log: () => undefined })
    closers.push(panel.close)
    const address = new URL(panel.url)
    platforms.set('Node', (path, more) => sendRaw(address, 'GET', path, { headers: more ?? {} }))
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    for (const close of closers.toReversed()) await close()
    await services?.close()
    await rm(directory, { recursive: true, force: true })
  })

  const each = async (path: string, more?: Record<string, string>) =>
    Promise.all([...platforms].map(async ([name, get]) => [name, await get(path, more)] as const))

  it.each(['.js', '.css'])('have the same headers everywhere: %s', async (ending) => {
    const name = names.find((file) => file.endsWith(ending)) ?? ''
    for (const [platform, answer] of await each(`/assets/${name}`)) {
      expect(seen(answer), platform).toEqual({
        status: 200,
        'content-type': `text/${ending === '.js' ? 'javascript' : 'css'}; charset=utf-8`,
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'",
        'set-cookie': null,
      })
    }
  })

  it('describe all routes under an address that stays, which is sent once', async () => {
    for (const [platform, answer] of await each('/openapi.json')) {
      expect(answer.body.openapi, platform).toBe('3.1.0')
      expect(seen(answer), platform).toEqual({
        status: 200,
        'content-type': 'application/json',
        'cache-control': 'public, max-age=0, must-revalidate',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'",
        'set-cookie': null,
      })
      const etag = answer.headers.get('etag') ?? ''
      expect(etag, platform).not.toBe('')
      const again = await platforms.get(platform)?.('/openapi.json', { 'if-none-match': etag })
      expect(again?.status, platform).toBe(304)
    }
  })

  it('have a worker that may ask the panel, and is looked for again each time', async () => {
    for (const [platform, answer] of await each('/service-worker.js')) {
      expect(seen(answer), platform).toEqual({
        status: 200,
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=0, must-revalidate',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; connect-src 'self'",
        'set-cookie': null,
      })
    }
  })

  it.each([
    ['/favicon.ico', /^image\/(x-icon|vnd\.microsoft\.icon)$/],
    ['/apple-touch-icon.png', /^image\/png$/],
    ['/icon-192.png', /^image\/png$/],
    ['/icon-512.png', /^image\/png$/],
    ['/icon-maskable.png', /^image\/png$/],
    ['/robots.txt', /^text\/plain; charset=utf-8$/],
  ])('are where browsers and robots look for them: %s', async (path, type) => {
    for (const [platform, answer] of await each(path)) {
      expect(seen(answer), platform).toEqual({
        status: 200,
        'content-type': expect.stringMatching(type),
        'cache-control': 'public, max-age=0, must-revalidate',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'",
        'set-cookie': null,
      })
    }
  })

  it('that are not there are refused as anything else is, and nothing beside them is given away', async () => {
    for (const path of ['/assets/missing.js', '/assets/..%2f_headers', '/.vite/manifest.json', '/_headers']) {
      const answers = await each(path)
      for (const [platform, answer] of answers) {
        expect(answer.status, `${platform} ${path}`).toBe(path.includes('%2f') ? 400 : 404)
        expect(answer.body.errors.length, `${platform} ${path}`).toBe(1)
        expect(answer.headers.get('cache-control'), `${platform} ${path}`).toBe('no-store, private')
      }
    }
  })
})
