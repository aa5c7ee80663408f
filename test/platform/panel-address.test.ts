import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import { listenHttp } from '../../src/platform/node-http.ts'
import { missingUrlNotice, panelUrlOf } from '../../src/platform/panel-url.ts'
import { makePanelFolder } from '../support/panel-folder.ts'
import { freePort, type PanelProcess, startPanelProcess } from '../support/panel-process.ts'
import { startProcess } from '../support/processes.ts'
import { sendRaw } from '../support/raw-http.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
)

let panel: PanelProcess | undefined
afterEach(async () => {
  await panel?.stop()
  panel = undefined
})

/** Signs in as a browser does that was sent to this URL. */
async function signIn(url: string) {
  const page = await fetch(url)
  const origin = new URL(page.url).origin
  const cookies = new Map(
    page.headers.getSetCookie().map((line) => (line.split(';')[0] ?? '').split('=', 2) as [string, string]),
  )
  const csrf = /name="csrf-token" content="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  const { username, password } = panel?.bootstrap.user ?? {}
  const answer = await fetch(`${origin}/auth/login`, {
    method: 'POST',
    headers: {
      origin,
      accept: 'application/json',
      'content-type': 'application/json',
      'x-xsrf-token': csrf,
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    },
    body: JSON.stringify({ user: username, password }),
  })
  const body = await answer.json()
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  const security = await fetch(`${origin}/account/security`, { headers: { cookie } })
  return { origin, status: answer.status, body, security: await security.json() }
}

describe('npm start without a variable but its port', () => {
  it('signs in at the printed address, at localhost, at 127.0.0.1 and at ::1, and has passkeys', async () => {
    const port = await freePort()
    panel = await startPanelProcess({ PORT: String(port) })
    const printed = /Roost serves at (\S+)/.exec(panel.output())?.[1]
    expect(printed).toBe(`http://localhost:${port}`)
    const names = ['localhost', '127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])]
    for (const name of names) {
      const { origin, status, body, security } = await signIn(`http://${name}:${port}/auth/login`)
      expect([name, origin, status, body.data?.complete]).toEqual([name, printed, 200, true])
      expect(security.passkeys_enabled).toBe(true)
      const health = await fetch(`http://${name}:${port}/health`)
      expect([name, health.status, health.redirected]).toEqual([name, 200, false])
    }
    const page = await (await fetch(`${printed}/auth/login`)).text()
    expect(page).not.toContain('data-panel-origin')
  }, 120_000)
})

describe('npm start with HOST=0.0.0.0 and without APP_URL', () => {
  it('explains what to set, and names its address on pages that are opened at the address of the machine', async () => {
    const folder = await makePanelFolder()
    const port = await freePort()
    const env = { HOST: '0.0.0.0', PORT: String(port), DATA_DIR: folder.data }
    const running = await startProcess('functions/all/start.js', { env, ready: /Set APP_URL to the address/ })
    try {
      expect(running.output()).toContain(`Roost serves at http://localhost:${port}\n`)
      expect(running.output()).not.toContain('game servers run')
      const own = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
      const address =
        own.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
      const { status, headers, text } = await sendRaw(
        new URL(`http://${address}:${port}`),
        'GET',
        '/auth/login',
        {
          headers: { host: `192.168.1.5:${port}` },
        },
      )
      expect([status, headers.get('location')]).toEqual([200, null])
      expect(text).toContain(`<a href="http://localhost:${port}/auth/login">http://localhost:${port}</a>`)
    } finally {
      await running.kill()
      await folder.remove()
    }
  }, 120_000)
})

describe('a process without HOST', () => {
  const answer = () => new Response('here')

  it('listens at 127.0.0.1 and, where it exists, at ::1', async () => {
    const { port, close } = await listenHttp({ PORT: 0 }, answer)
    for (const host of ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])]) {
      expect(await (await fetch(`http://${host}:${port}`)).text()).toBe('here')
    }
    await close()
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow('fetch failed')
  })

  it.runIf(hasIpv6)('does not start where another program has the port of localhost', async () => {
    const other = createServer()
    await once(other.listen(0, '::1'), 'listening')
    const { port } = other.address() as AddressInfo
    await expect(listenHttp({ PORT: port }, answer)).rejects.toThrow(
      `EADDRINUSE: address already in use ::1:${port}`,
    )
    // The port is free again at the other address.
    const first = createServer()
    await once(first.listen(port, '127.0.0.1'), 'listening')
    first.close()
    other.close()
  })
})

describe('the address of a process without APP_URL', () => {
  it.each([
    [undefined, 'http://localhost:8080'],
    ['127.0.0.1', 'http://localhost:8080'],
    ['0.0.0.0', 'http://localhost:8080'],
    ['::', 'http://localhost:8080'],
    ['192.168.1.5', 'http://192.168.1.5:8080'],
    ['fd00::5', 'http://[fd00::5]:8080'],
    ['127.0.0.2', 'http://127.0.0.2:8080'],
  ])('with HOST %s is %s', (HOST, url) => {
    expect(panelUrlOf({ APP_URL: undefined, HOST }, 8080)).toBe(url)
    expect(panelUrlOf({ APP_URL: 'https://panel.test', HOST }, 8080)).toBe('https://panel.test')
  })

  it('is explained where other machines can connect: HOST=0.0.0.0 says what to set', async () => {
    const url = 'http://localhost:8080'
    const notice = missingUrlNotice({ APP_URL: undefined, HOST: '0.0.0.0' }, url)
    expect(notice).toMatch(
      /without APP_URL users can sign in only on this one, at http:\/\/localhost:8080\.\n/,
    )
    expect(notice).toMatch(/^Set APP_URL to .*, for example APP_URL=http:\/\/[\d.]+:8080$/m)
    for (const HOST of [undefined, '127.0.0.1', '192.168.1.5']) {
      expect(missingUrlNotice({ APP_URL: undefined, HOST }, url)).toBeNull()
    }
    expect(missingUrlNotice({ APP_URL: 'https://panel.test', HOST: '::' }, 'https://panel.test')).toBeNull()
  })
})
