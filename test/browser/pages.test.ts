import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { hashPassword } from '../../src/domain/auth/password-hash.ts'
import { fullAcl, makeRole, makeUser } from '../support/factories.ts'
import { settings } from '../../src/db/schema.ts'
import { type Answer } from '../support/answers.ts'
import { renderDocument } from '../../src/surfaces/browser/page-document.ts'
import { type Browser, openBrowser, openSignedInBrowser } from '../support/browser.ts'
import { cheapPasswords, panelUrl, useWorld } from '../support/world.ts'
import { directivesOf, nonceIn } from './page-policy.ts'

const world = useWorld()
const password = 'correct horse battery'
let browser: Browser

beforeEach(async () => {
  browser = await openBrowser(world)
})

const guestPages = ['/auth/login', '/auth/register', '/auth/password', '/auth/password/reset/abc123']

async function signInAs(values: Parameters<typeof makeUser>[1] = {}) {
  const user = await makeUser(world, {
    passwordHash: await hashPassword(password, cheapPasswords),
    ...values,
  })
  const { status } = await browser.request('POST', '/auth/login', { user: user.username, password })
  expect(status).toBe(200)
  return user
}

/** Reads what the inline script of the page assigns, as a browser does. */
function globalsOf({ text }: Answer): Record<string, any> {
  const [, script = ''] = /<script nonce="[^"]+">([\s\S]*?)<\/script>/.exec(text) ?? []
  const assigned = [...script.matchAll(/window\.(\w+) = (.*);$/gm)]
  return Object.fromEntries(assigned.map(([, name = '', json = '']) => [name, JSON.parse(json)]))
}

describe('every page', () => {
  it.each(guestPages)('FE-1: is a whole document with the headers of pages: %s', async (path) => {
    const answer = await browser.request('GET', path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=UTF-8')
    const nonce = nonceIn(answer)
    expect(answer.headers.get('content-security-policy')).toBe(
      `default-src 'self'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; ` +
        `object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; img-src 'self' data: blob:; connect-src 'self'`,
    )
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('x-frame-options')).toBe('DENY')
    expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(answer.headers.get('cache-control')).toBe('no-store, private')
    expect(answer.headers.get('referrer-policy')).toBe(
      path.includes('reset') ? 'no-referrer' : 'strict-origin-when-cross-origin',
    )
    // The panel of the tests is not reached by HTTPS.
    expect(answer.headers.get('strict-transport-security')).toBeNull()
    expect(answer.text).toMatch(/^<!doctype html>\s*<html lang="en">[\s\S]*<\/html>$/)
    expect(answer.text).toMatch(/<title>[^<]+ · Roost<\/title>/)
    expect(answer.text).toMatch(/<h1>[^<]+<\/h1>\s*<p>[^<]+<\/p>/)
    expect(answer.text).toMatch(/<noscript><p>[^<]*JavaScript[^<]*<\/p><\/noscript>/)
    expect(answer.text).not.toContain('abc123')
  })

  it('says which page it is', async () => {
    const titles = await Promise.all(
      guestPages.map(async (path) => /<h1>([^<]+)</.exec((await browser.request('GET', path)).text)?.[1]),
    )
    expect(titles).toEqual(['Sign in', 'Create an account', 'Forgot your password?', 'New password'])
  })

  it('FE-1: lets its own scripts run by a nonce that is new each time', async () => {
    const nonces = new Set<string>()
    for (let load = 0; load < 5; load += 1) {
      const answer = await browser.request('GET', '/auth/login')
      const nonce = nonceIn(answer)
      expect(nonce).toMatch(/^[A-Za-z0-9]{22,}$/)
      const scripts = [...answer.text.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag)
      expect(scripts.length).toBeGreaterThan(0)
      expect(scripts.filter((tag) => !tag.includes(`nonce="${nonce}"`))).toEqual([])
      expect(answer.text).not.toMatch(/\bstyle=|\son\w+=|javascript:/)
      // Browsers show an attribute named `nonce` to scripts alone, so no style can read it off the page.
      expect(answer.text).toContain(`<meta property="csp-nonce" nonce="${nonce}" />`)
      expect(answer.text.split(nonce)).toHaveLength(scripts.length + 2)
      nonces.add(nonce)
    }
    expect(nonces.size).toBe(5)
  })

  it('FE-1: is asked for by HTTPS alone where the panel is', async () => {
    const { config } = world.services
    Object.assign(world.services, { config: { ...config, url: 'https://panel.test' } })
    const answer = await world.request('GET', '/auth/login')
    expect(answer.headers.get('strict-transport-security')).toMatch(/^max-age=\d{8,}$/)
    expect(answer.headers.getSetCookie().join()).toMatch(
      /__Host-roost_session=\w{48}; Path=\/; HttpOnly; Secure/,
    )
  })

  it('gives a guest what forms have to send back', async () => {
    const fresh = await world.request('GET', '/auth/login')
    const cookies = fresh.headers.getSetCookie()
    expect(cookies.map((line) => line.split('=')[0])).toEqual(['roost_session', 'XSRF-TOKEN'])
    const shown = /<meta name="csrf-token" content="([^"]+)"/.exec(fresh.text)?.[1] ?? ''
    const headers = {
      origin: panelUrl,
      cookie: cookies.map((line) => line.split(';')[0]).join('; '),
      'x-csrf-token': shown,
    }
    const body = { user: 'unknown', password: 'x' }
    expect((await world.request('POST', '/auth/login', { headers, body })).status).toBe(400)
    const forged = { ...headers, 'x-csrf-token': `${shown.slice(0, -1)}x` }
    expect((await world.request('POST', '/auth/login', { headers: forged, body })).status).toBe(419)
  })

  it('speaks the language of the browser', async () => {
    const answer = await browser.request('GET', '/auth/login', undefined, {
      headers: { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' },
    })
    expect(answer.text).toContain('<html lang="de">')
    expect(answer.text).toContain('<h1>Anmelden</h1>')
    expect(globalsOf(answer).SiteConfiguration.locale).toBe('de')
  })

  it('refuses keys and other methods in the shape of errors', async () => {
    expect((await world.request('GET', '/auth/login', { token: 'ptlc_x' })).status).toBe(401)
    const refused = await browser.request('DELETE', '/auth/login')
    expect(refused.status).toBe(405)
    expect(refused.headers.get('allow')).toContain('GET')
    expect((await browser.request('GET', '/server/a/b/c/d')).status).toBe(404)
    expect((await browser.request('GET', '/auth/password/reset/a/b')).status).toBe(404)
  })
})

describe('what the application starts with', () => {
  it('has no user for guests', async () => {
    expect(globalsOf(await browser.request('GET', '/auth/login'))).toEqual({
      SiteConfiguration: {
        name: 'Roost',
        locale: 'en',
        blur: false,
        picture: null,
        recaptcha: { enabled: false, siteKey: '' },
        captcha: { provider: 'none', siteKey: '' },
        setup: { isDue: true },
        mail: 'stored',
      },
    })
  })

  it('says to guests alone whether a link to a new password can be mailed', async () => {
    const { config, mail } = world.panel
    const mailOf = async () =>
      globalsOf(await browser.request('GET', '/auth/password')).SiteConfiguration.mail
    expect(await mailOf()).toBe('stored')
    Object.assign(world.services, { mail: { send: mail.send } })
    onTestFinished(() => void Object.assign(world.services, { config, mail }))
    expect(await mailOf()).toBe('none')
    Object.assign(world.services, { config: { ...config, sendsMail: true } })
    expect(await mailOf()).toBeUndefined()
    await signInAs()
    expect(globalsOf(await browser.request('GET', '/')).SiteConfiguration).not.toHaveProperty('mail')
  })

  it('has the account of the signed-in user', async () => {
    const user = await signInAs({ language: 'pl' })
    const answer = await browser.request('GET', '/')
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('<html lang="pl">')
    const { PterodactylUser } = globalsOf(answer)
    expect(Object.keys(PterodactylUser)).toEqual([
      'uuid',
      'username',
      'email',
      'name_first',
      'name_last',
      'language',
      'root_admin',
      'use_totp',
      'gravatar',
      'created_at',
      'updated_at',
    ])
    expect(PterodactylUser).toMatchObject({ uuid: user.uuid, email: user.email, root_admin: false })
  })

  it('has the levels of an administrator, and none of other users', async () => {
    const starts = async (values: object) => {
      const signedIn = await openSignedInBrowser(world, await makeUser(world, values))
      return globalsOf(await signedIn.request('GET', '/')).SiteConfiguration
    }
    expect((await starts({ rootAdmin: true })).acl).toEqual(fullAcl)
    const { id } = await makeRole(world, { servers: 1, eggs: 3 })
    expect((await starts({ roleId: id })).acl).toMatchObject({ servers: 1, eggs: 3, nodes: 0 })
    expect(await starts({})).not.toHaveProperty('acl')
  })

  it('cannot end the script, whatever people call themselves', async () => {
    const firstName = '</script><script>alert(1)</script><!--<script>\u2028\u2029&amp;"\'\\'
    await signInAs({ firstName, lastName: ']]></SCRIPT >' })
    const answer = await browser.request('GET', '/')
    const written = answer.text.replace(
      /<script (type="module" )?nonce="\w+"( src="[\w./-]+")?>|<\/script>/g,
      '',
    )
    expect(written).not.toMatch(/<\/?script|<!--|\u2028|\u2029/i)
    const opened = answer.text.match(/<script/gi) ?? []
    expect(answer.text.match(/<\/script/gi)).toHaveLength(opened.length)
    expect(globalsOf(answer).PterodactylUser.name_first).toBe(firstName)
  })

  it('cannot end the title, whatever the panel is called', async () => {
    const { config } = world.services
    const name = '</title><script>alert(1)</script>"&'
    Object.assign(world.services, { config: { ...config, name } })
    const answer = await world.request('GET', '/auth/login')
    expect(answer.text).not.toContain('<script>alert')
    expect(answer.text).toContain('&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;</title>')
    expect(globalsOf(answer).SiteConfiguration.name).toBe(name)
  })
})

describe('the application', () => {
  const shell = {
    icon: null,
    iconColour: '#123456',
    style: null,
    language: 'en',
    panelName: 'Roost',
    title: 'Sign in',
    text: 'Text',
    noScript: 'None',
    nonce: 'abc',
    address: null,
    csrf: 'def',
    globals: {},
    requests: ['/api/client/servers?page=1&per_page=2'],
  }

  it('is loaded where its build made it', async () => {
    const assets = {
      scripts: ['/assets/app-1f.js'],
      preloads: ['/assets/part-3d.js'],
      styles: ['/assets/app-2e.css', '/assets/"x.css'],
    }
    const text = String(await renderDocument({ ...shell, assets }))
    expect(text).toContain('<script type="module" nonce="abc" src="/assets/app-1f.js"></script>')
    expect(text).toContain('<link rel="modulepreload" href="/assets/part-3d.js" />')
    expect(text).toContain(
      '<link rel="preload" as="fetch" crossorigin href="/api/client/servers?page=1&amp;per_page=2" />',
    )
    expect(text).toContain('<link rel="stylesheet" href="/assets/app-2e.css" />')
    expect(text).toContain('<link rel="stylesheet" href="/assets/&quot;x.css" />')
    expect(text).toContain('<div id="app">')
    expect(text).toContain('<div id="modal-portal"></div>')
  })

  it('has an icon in the colour of the panel, or the logo', async () => {
    const assets = { scripts: [], preloads: [], styles: [] }
    expect(String(await renderDocument({ ...shell, assets }))).toMatch(
      /rel="icon" href="data:image[^"]+%23123456/,
    )
    expect(String(await renderDocument({ ...shell, assets, icon: '/logos/a.png' }))).toContain(
      '<link rel="icon" href="/logos/a.png" />',
    )
  })

  it('is not asked for where there is none', async () => {
    const text = String(await renderDocument({ ...shell, assets: { scripts: [], preloads: [], styles: [] } }))
    expect(text).not.toMatch(/src=|\/assets\//)
  })
})

describe('a captcha', () => {
  const configure = async (provider: string) => {
    const rows = Object.entries({ provider, site_key: '</script>key', secret: 'sealed' })
    await world.database.db
      .insert(settings)
      .values(rows.map(([name, value]) => ({ key: `captcha.${name}`, value, updatedAt: world.clock.now })))
  }

  it.each([
    ['turnstile', 'https://challenges.cloudflare.com'],
    ['hcaptcha', 'https://*.hcaptcha.com'],
    ['recaptcha', 'https://www.google.com/recaptcha/'],
  ])('may run where guests are asked for it: %s', async (provider, source) => {
    await configure(provider)
    const answer = await browser.request('GET', '/auth/login')
    const directives = directivesOf(answer)
    for (const name of ['script-src', 'frame-src', 'connect-src', 'style-src']) {
      expect(directives.get(name), name).toContain(source)
    }
    expect(globalsOf(answer).SiteConfiguration).toMatchObject({
      recaptcha: { enabled: provider === 'recaptcha' },
      captcha: { provider, siteKey: '</script>key' },
    })
    expect(answer.text).not.toContain('sealed')
  })

  it('does not run elsewhere', async () => {
    await signInAs()
    await configure('turnstile')
    const answer = await browser.request('GET', '/')
    expect(answer.headers.get('content-security-policy')).not.toContain('cloudflare')
    expect(globalsOf(answer).SiteConfiguration.captcha).toEqual({ provider: 'none', siteKey: '' })
  })
})

describe('whom a page is for', () => {
  it.each(guestPages)('is guests alone: %s', async (path) => {
    await signInAs()
    const answer = await browser.request('GET', path)
    expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([302, '/', ''])
  })

  it('is signed-in users, for the start page', async () => {
    const cookie = `roost_session=${browser.cookies.get('roost_session')}`
    const answer = await world.app.request(`${panelUrl}/`, { headers: { cookie } })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/auth/login'])
    const deep = await world.app.request(`${panelUrl}/server/1a2b3c4d/files?directory=%2Fworld`)
    expect(deep.headers.get('location')).toBe(
      '/auth/login?intended=%2Fserver%2F1a2b3c4d%2Ffiles%3Fdirectory%3D%252Fworld',
    )
  })
})
