import { beforeEach, describe, expect, it } from 'vitest'
import { sessions } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { type Browser, openBrowser, openSignedInBrowser } from '../support/browser.ts'
import { known, makeUser } from '../support/factories.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
let user: User

beforeEach(async () => {
  user = await makeUser(world, { username: 'mara', passwordHash: known.passwordHash })
})

const login = (browser: Browser) =>
  browser.request('POST', '/auth/login', { user: 'mara', password: known.password })
const rows = () => world.database.db.select().from(sessions)
const isSignedIn = async (browser: Browser) =>
  (await browser.request('GET', '/api/client/account')).status === 200

describe('pages of others', () => {
  it.each([
    ['another origin', { origin: 'https://evil.test' }],
    ['a hidden origin', { origin: 'null' }],
    ['another port', { origin: `${panelUrl}:8080` }],
    ['another scheme', { origin: 'https://panel.test' }],
    ['a site of the same name', { origin: '', 'sec-fetch-site': 'same-site' }],
    ['no page at all', { origin: '' }],
    ['a page that says so in the old way alone', { origin: '', referer: `${panelUrl}/` }],
  ])('AU-7: %s: nothing is changed', async (_what, headers) => {
    const browser = await openSignedInBrowser(world, user)
    for (const [method, path] of [
      ['POST', '/auth/logout'],
      ['DELETE', '/account/security/sessions'],
      ['PUT', '/api/client/account/language'],
    ] as const) {
      const { status, body } = await world.request(method, path, {
        body: { language: 'de' },
        headers: {
          cookie: `roost_session=${browser.cookies.get('roost_session')}`,
          'x-xsrf-token': browser.cookies.get('XSRF-TOKEN') ?? '',
          ...Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== '')),
        },
      })
      expect([status, body.errors[0].code], path).toEqual([419, 'HttpException'])
    }
    expect(await isSignedIn(browser)).toBe(true)
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'AU-7: a body of the type "%s" is no way around that',
    async (type) => {
      const browser = await openSignedInBrowser(world, user)
      for (const [method, path] of [
        ['POST', '/auth/logout'],
        ['DELETE', '/account/security/sessions'],
        ['PUT', '/api/client/account/language'],
        ['POST', '/api/client/account/avatar'],
      ] as const) {
        const { status } = await world.request(method, path, {
          raw: '{"language":"de"}',
          headers: {
            cookie: `roost_session=${browser.cookies.get('roost_session')}`,
            origin: 'https://evil.test',
            'content-type': type,
          },
        })
        expect(status, path).toBe(419)
      }
      expect(await isSignedIn(browser)).toBe(true)
    },
  )

  it('are told from ours by what browsers say of them, when they send no origin', async () => {
    const browser = await openSignedInBrowser(world, user)
    const { status } = await world.request('POST', '/auth/logout', {
      headers: {
        cookie: `roost_session=${browser.cookies.get('roost_session')}`,
        'x-csrf-token': browser.cookies.get('XSRF-TOKEN') ?? '',
        'sec-fetch-site': 'same-origin',
      },
    })
    expect(status).toBe(204)
  })

  it('AU-7: cannot sign in a user', async () => {
    const { status } = await world.request('POST', '/auth/login', {
      body: { user: 'mara', password: known.password },
      headers: { origin: panelUrl },
    })
    expect(status).toBe(419)
    const browser = await openBrowser(world)
    const other = await openBrowser(world)
    browser.cookies.set('XSRF-TOKEN', other.cookies.get('XSRF-TOKEN') ?? '')
    expect((await login(browser)).status).toBe(419)
    expect(await rows()).toEqual([])
  })
})

describe('AU-10: the target of a redirect', () => {
  const evil = ['intended', 'redirect', 'redirect_to', 'next', 'return', 'url']
    .flatMap((name) => [
      `${name}=https://evil.test`,
      `${name}=//evil.test`,
      `${name}=%0d%0aLocation:%20//evil.test`,
    ])
    .join('&')
  const headers = {
    host: 'evil.test',
    'x-forwarded-host': 'evil.test',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.test',
    'x-original-url': '//evil.test',
  }
  const placesOf = (as: Browser, paths: string[]) =>
    Promise.all(
      paths.map(async (path) => {
        const answer = await as.request('GET', `${path}?${evil}`, undefined, { headers })
        return [answer.status, answer.headers.get('location')]
      }),
    )

  it('is always a page of the panel', async () => {
    const guest = await openBrowser(world)
    const toLogin = await world.app.request(`${panelUrl}/?${evil}`, { headers })
    expect([toLogin.status, toLogin.headers.get('location')]).toEqual([302, '/auth/login'])
    const fields = { intended: '//evil.test', redirect_to: 'https://evil.test', return: '//evil.test' }
    const answer = await guest.request('POST', `/auth/login?${evil}`, {
      user: 'mara',
      password: known.password,
      ...fields,
    })
    expect(answer.body.data.intended).toBe('/')
    expect(JSON.stringify([...answer.headers])).not.toContain('evil')
    const pages = ['/auth/login', '/auth/register', '/auth/password', '/auth/methods', '/auth/oauth/oidc']
    expect(await placesOf(guest, pages)).toEqual(pages.map(() => [302, '/']))
  })
})
