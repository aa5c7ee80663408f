import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort, type PanelProcess, startPanelProcess } from '../support/panel-process.ts'
import { eventually } from '../support/processes.ts'

const repository = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const certificate = repository('test/support/certificates/localhost.crt')
const key = repository('test/support/certificates/localhost.key')

type Ports = { panel: number; http: number; https: number }
type Proxy = { program: string; write: (folder: string, ports: Ports) => Promise<string[]> }

/** Each proxy with its example of the documentation, but for names, ports and certificates. */
const proxies: Record<string, Proxy> = {
  nginx: {
    program: '/usr/sbin/nginx',
    write: async (folder, ports) => {
      const example = (await readFile(repository('docs/proxies/nginx.conf'), 'utf8'))
        .replace('127.0.0.1:8080', `127.0.0.1:${ports.panel}`)
        .replace('listen 80;', `listen 127.0.0.1:${ports.http};`)
        .replace('listen 443 ssl;', `listen 127.0.0.1:${ports.https} ssl;`)
        .replace(/(?<=ssl_certificate )[^;]+/, certificate)
        .replace(/(?<=ssl_certificate_key )[^;]+/, key)
      const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/${name};`)
        .join('\n')
      const file = join(folder, 'nginx.conf')
      await writeFile(
        file,
        `pid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${places}\n${example}\n}\n`,
      )
      return ['-c', file, '-g', 'daemon off;']
    },
  },
  Caddy: {
    program: '/usr/bin/caddy',
    write: async (folder, ports) => {
      const example = (await readFile(repository('docs/proxies/Caddyfile'), 'utf8'))
        .replace('127.0.0.1:8080', `127.0.0.1:${ports.panel}`)
        .replace('panel.example.com {', `localhost:${ports.https} {\n\ttls ${certificate} ${key}`)
      const file = join(folder, 'Caddyfile')
      await writeFile(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${example}`)
      return ['run', '--config', file, '--adapter', 'caddyfile']
    },
  },
}

let panel: PanelProcess
let panelPort: number
beforeAll(async () => {
  panel = await startPanelProcess({ HOST: '127.0.0.1', LOG_ADDRESSES: 'true', TRUSTED_PROXIES: '1' })
  panelPort = Number(new URL(panel.bootstrap.url).port)
})
afterAll(() => panel?.stop())

for (const [name, { program }] of Object.entries(proxies))
  if (!existsSync(program)) process.stderr.write(`Skipped: the example of ${name}: there is no ${program}.\n`)

describe('a panel behind a proxy', () => {
  it('keeps idle connections for longer than Caddy reuses them', async () => {
    const answer = await fetch(`${panel.bootstrap.url}/health`)
    const [, seconds] = /timeout=(\d+)/.exec(answer.headers.get('keep-alive') ?? '') ?? []
    expect(Number(seconds)).toBeGreaterThan(120)
  })
})

describe.each(Object.entries(proxies))('the example of %s', (_name, { program, write }) => {
  let folder: string
  let proxy: ChildProcess
  let port: number
  let errors = ''

  /** Sends a request to the proxy as a caller at this address, and returns its status. */
  const send = (method: string, path: string, more: { from: string; body?: Buffer; type?: string }) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        host: `localhost:${port}`,
        authorization: `Bearer ${panel.bootstrap.user.client_key}`,
        'x-forwarded-for': '203.0.113.9',
        ...(more.type ? { 'content-type': more.type, 'content-length': more.body?.length ?? 0 } : {}),
      }
      const sent = request(
        {
          host: '127.0.0.1',
          servername: 'localhost',
          port,
          method,
          path,
          headers,
          localAddress: more.from,
          rejectUnauthorized: false,
        },
        (answer) => {
          answer.resume()
          answer.on('end', () => resolve(answer.statusCode ?? 0))
        },
      )
      sent.on('error', reject)
      sent.end(more.body)
    })

  beforeAll(async () => {
    if (!existsSync(program)) return
    folder = await mkdtemp(join(tmpdir(), 'roost-proxy-'))
    port = await freePort()
    const args = await write(folder, { panel: panelPort, http: await freePort(), https: port })
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    proxy = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    proxy.stderr?.on('data', (chunk) => (errors += String(chunk)))
    await eventually(async () => {
      expect(proxy.exitCode, errors).toBeNull()
      return (await send('GET', '/health', { from: '127.0.0.1' }).catch(() => 0)) === 200
    })
  })
  afterAll(async () => {
    if (!proxy) return
    proxy.kill()
    if (proxy.exitCode === null) await once(proxy, 'exit')
    await rm(folder, { recursive: true })
  })

  it.skipIf(!existsSync(program))(
    'tells the panel the address of the caller, not what it claims',
    async () => {
      expect(await send('GET', '/api/client', { from: '127.0.0.7' })).toBe(200)
      await eventually(() => /"address":"127\.0\.0\.7"/.test(panel.output()))
      expect(panel.output()).not.toContain('203.0.113.9')
    },
  )

  it.skipIf(!existsSync(program))('lets through bodies of megabytes', async () => {
    const path = `/api/client/servers/${panel.bootstrap.server.identifier}/files/write?file=large.txt`
    const body = Buffer.alloc(3 * 1024 * 1024, 'x')
    expect(await send('POST', path, { from: '127.0.0.8', body, type: 'text/plain' })).toBe(204)
  })
})
