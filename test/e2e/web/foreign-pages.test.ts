import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { type Account, openPlayer, type Player } from './player.ts'
import { makeAccount, startLocalhostPanel, startTimeout } from './panel-fixtures.ts'

let panel: PanelProcess
let chromium: Chromium
let foreignServer: Server
let account: Account
let player: Player

beforeAll(async () => {
  foreignServer = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Elsewhere</title>')
  })
  ;[panel, chromium] = await Promise.all([
    startLocalhostPanel(),
    startChromium(),
    new Promise<void>((resolve) => foreignServer.listen(0, '127.0.0.1', resolve)),
  ])
  account = await makeAccount(panel, 'visitor')
  player = await openPlayer(chromium, panel.bootstrap.url)
  expect(await player.signIn(account)).toBe('signed in')
}, startTimeout)
afterAll(async () => {
  await chromium?.close()
  await panel?.stop()
  foreignServer?.close()
})

/** Opens another page in the same browser: on another port of the host, to which cookies are sent, or on another host. */
async function openElsewhere(host: string): Promise<Page> {
  const page = await player.context.newPage()
  await page.goto(`http://${host}:${(foreignServer.address() as AddressInfo).port}/`)
  return page
}

describe('the session in a browser', { timeout: 120_000 }, () => {
  it('has a cookie that no script reads, and breaks no policy of its pages', async () => {
    const cookies = await player.context.cookies()
    expect(cookies.find(({ name }) => name === 'roost_session')).toMatchObject({
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      expires: -1,
    })
    const read = await player.page.evaluate(async () => [
      document.cookie,
      (await cookieStore.getAll()).map(({ name }) => name).join(),
    ])
    expect(read).toEqual([expect.stringMatching(/^XSRF-TOKEN=[^;]+$/), 'XSRF-TOKEN'])
    for (const path of ['/', '/account', '/docs']) expect(await player.open(path)).toBe(path)
    expect(player.problems()).toEqual([])
  })

  it('runs no script that slips into a page', async () => {
    const hasRun = await player.page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'window.slippedIn = true'
      document.head.append(script)
      document.body.insertAdjacentHTML('beforeend', '<img src="x:" onerror="window.slippedIn = true">')
      return 'slippedIn' in window
    })
    expect(hasRun).toBe(false)
    await expect
      .poll(() => player.problems())
      .toEqual(expect.arrayContaining([expect.stringContaining('Content Security Policy')]))
    expect(await player.page.evaluate(() => 'slippedIn' in window)).toBe(false)
  })
})

const key = { description: 'Of a foreign page', allowed_ips: [] }
/** Changes that can be seen afterwards. */
const changes = [
  { path: '/auth/logout', body: {} },
  { path: '/api/client/account/api-keys', body: key },
]

/** Sends JSON as a form of another page, which needs no preflight; returns the status shown to the browser. */
async function submitForm(host: string, url: string, body: object): Promise<number> {
  const page = await openElsewhere(host)
  const answer = page.waitForResponse(url)
  const arrival = page.waitForEvent('load')
  await page.evaluate(
    ([action, name]) => {
      const form = document.createElement('form')
      Object.assign(form, { method: 'post', enctype: 'text/plain', action })
      const field = document.createElement('input')
      // Together with the sign that follows a name, it is JSON.
      Object.assign(field, { name: `${name.slice(0, -1)}${name === '{}' ? '' : ','}"rest":"`, value: '"}' })
      form.append(field)
      document.body.append(form)
      form.submit()
    },
    [url, JSON.stringify(body)] as const,
  )
  const status = (await answer).status()
  await arrival
  await page.close()
  return status
}

/** Sends it by a script without a preflight; returns the status, which the page cannot read. */
async function sendBlindly(page: Page, url: string, body: object): Promise<number> {
  const answer = page.waitForResponse(url)
  await page.evaluate(
    ([address, text]) =>
      fetch(address, { method: 'POST', mode: 'no-cors', credentials: 'include', body: text }),
    [url, JSON.stringify(body)] as const,
  )
  return (await answer).status()
}

/** Checks whether a script may send it as pages of the panel do, and read the response. */
const mayCall = (page: Page, method: string, url: string, body?: object) =>
  page.evaluate(
    async (call) => {
      const token = /XSRF-TOKEN=([^;]*)/.exec(document.cookie)?.[1] ?? ''
      const headers = { 'content-type': 'application/json', 'x-xsrf-token': decodeURIComponent(token) }
      const { method, body } = call
      const sent = fetch(call.url, {
        method,
        credentials: 'include',
        ...(body ? { headers, body: JSON.stringify(body) } : {}),
      })
      return sent.then(
        () => true,
        () => false,
      )
    },
    { method, url, ...(body ? { body } : {}) },
  )

describe.each([
  { host: 'localhost', statuses: [419, 419], why: 'comes with the cookies, and is no page of ours' },
  { host: '127.0.0.1', statuses: [419, 401], why: 'comes without the cookies' },
])('a page at another port of $host, which $why', { timeout: 120_000 }, ({ host, statuses }) => {
  const at = (path: string) => `${panel.bootstrap.url}${path}`

  it('changes nothing under the session', async () => {
    const page = await openElsewhere(host)
    const blindly = []
    for (const { path, body } of changes) blindly.push(await sendBlindly(page, at(path), body))
    expect(blindly).toEqual(statuses)
    for (const { path, body } of changes) expect(await mayCall(page, 'POST', at(path), body)).toBe(false)
    const email = { email: 'foreign@roost.example', password: account.password }
    expect(await mayCall(page, 'PUT', at('/api/client/account/email'), email)).toBe(false)
    expect(await mayCall(page, 'GET', at('/api/client/account'))).toBe(false)
    await page.close()
    const forms = []
    for (const { path, body } of changes) forms.push(await submitForm(host, at(path), body))
    expect(forms).toEqual(statuses)

    expect(await player.whoAmI()).toBe(account.username)
    const own = await player.read('/api/client/account')
    expect(own.attributes.email).toBe(account.email)
    expect((await player.read('/api/client/account/api-keys')).data).toEqual([])
  })

  it('frames none of the pages', async () => {
    const page = await openElsewhere(host)
    const titleIn = async (url: string) => {
      const frame = await page.evaluateHandle(async (src) => {
        const element = document.createElement('iframe')
        const shown = new Promise((resolve) => element.addEventListener('load', resolve))
        element.src = src
        document.body.append(element)
        await shown
        return element
      }, url)
      const content = await frame.contentFrame()
      return content?.url().startsWith('chrome-error:') ? null : await content?.title()
    }
    expect(await titleIn(page.url())).toBe('Elsewhere')
    for (const path of ['/', '/account', '/auth/login', '/docs']) expect(await titleIn(at(path))).toBeNull()
    await page.close()
  })
})
