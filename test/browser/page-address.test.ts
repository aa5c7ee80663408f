import { describe, expect, it } from 'vitest'
import { useWorld } from '../support/world.ts'
import { languages } from '../../src/domain/languages.ts'

const world = useWorld()

/** Requests a URL of a panel with this APP_URL. */
async function open(appUrl: string, url: string, init: RequestInit = {}) {
  Object.assign(world.services, { config: { ...world.services.config, url: appUrl } })
  const answer = await world.app.request(url, init)
  return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() }
}
const localhost = 'http://localhost:8080'

describe('a page that is opened at another spelling of this machine', () => {
  it.each([
    'http://127.0.0.1:8080',
    'http://127.1:8080',
    'http://[::1]:8080',
    'http://[::ffff:127.0.0.1]:8080',
    'http://0.0.0.0:8080',
    'http://[::]:8080',
  ])('is redirected with 308 to the address of the panel, with its path and query: %s', async (origin) => {
    for (const path of ['/', '/auth/login', '/server/abc/files?directory=%2Fa', '/docs', '/account']) {
      const { status, location } = await open(localhost, `${origin}${path}`)
      expect([status, location]).toEqual([308, `${localhost}${path}`])
    }
  })

  it('is redirected to whichever spelling APP_URL has, and not when it has that spelling', async () => {
    expect(await open('http://127.0.0.1:8080', `${localhost}/auth/login`)).toMatchObject({
      status: 308,
      location: 'http://127.0.0.1:8080/auth/login',
    })
    expect((await open(localhost, `${localhost}/auth/login`)).status).toBe(200)
  })

  it.each([
    [localhost, 'http://127.0.0.1:9000'],
    ['https://localhost:8080', 'http://127.0.0.1:8080'],
    ['https://panel.example.com', 'http://127.0.0.1:8080'],
    ['http://192.168.1.5:8080', 'http://127.0.0.1:8080'],
    [localhost, 'http://192.168.1.5:8080'],
    [localhost, 'http://localhost.example.com:8080'],
  ])('is not redirected where a proxy could lead back to it: %s at %s', async (appUrl, origin) => {
    const { status, location } = await open(appUrl, `${origin}/auth/login`)
    expect([status, location]).toEqual([200, null])
  })
})

describe('a page that is opened at another address', () => {
  it.each([
    [localhost, 'http://192.168.1.5:8080'],
    ['https://panel.example.com', 'http://127.0.0.1:8080'],
    ['https://panel.example.com', 'http://panel.example.net'],
  ])('names the right one, in the language of the caller: %s at %s', async (appUrl, origin) => {
    for (const language of languages) {
      const headers = { 'accept-language': language }
      const { text } = await open(appUrl, `${origin}/auth/login?a=1`, { headers })
      expect(text).toContain(`<main data-panel-origin="${appUrl}">`)
      expect(text).toContain(`<a href="${appUrl}/auth/login?a=1">${appUrl}</a>`)
      expect(text).toContain('APP_URL')
      expect(text).not.toContain(new URL(origin).host)
    }
  })

  it('is an ordinary page at the address itself, whatever ended TLS', async () => {
    for (const origin of ['http://panel.example.com', 'https://panel.example.com']) {
      const { status, text } = await open('https://panel.example.com', `${origin}/auth/login`)
      expect(status).toBe(200)
      expect(text).not.toContain('data-panel-origin')
    }
  })
})

it('requests that are no pages are answered at every address', async () => {
  for (const origin of ['http://127.0.0.1:8080', 'http://192.168.1.5:8080', 'http://evil.test']) {
    expect((await open(localhost, `${origin}/health`)).status).toBe(200)
    expect((await open(localhost, `${origin}/api/client`)).status).toBe(401)
    expect((await open(localhost, `${origin}/api/remote/servers`)).status).toBe(401)
    expect((await open(localhost, `${origin}/locales/locale.json?locale=en&namespace=common`)).status).toBe(
      200,
    )
  }
})
