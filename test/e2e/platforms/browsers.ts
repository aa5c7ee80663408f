import { describe, expect, it } from 'vitest'
import { png } from '../../support/pictures.ts'
import { expectStatus, type Fixtures } from './fixtures.ts'
import { cookiesOf, openBrowser } from './wire.ts'

/** Defines the tests of what only browsers do: cookies, forms with files, pages with their assets. */
export function browsersOn(at: () => Fixtures): void {
  const open = () => openBrowser(at().wire, at().platform.origin, at().address)

  describe('a browser', () => {
    it('signs in with cookies, several to an answer, and is known by them', async () => {
      const { player } = at()
      const browser = open()
      const guest = await browser.send('GET', '/sanctum/csrf-cookie')
      const [session, shown] = [
        ['httponly', 'path=/', 'samesite=lax'],
        ['path=/', 'samesite=lax'],
      ]
      expect(cookiesOf(guest.headers)).toEqual({ roost_session: session, 'XSRF-TOKEN': shown })
      const before = browser.cookies.get('roost_session')
      const json = { user: player.username, password: player.password, remember: true }
      const signedIn = await browser.send('POST', '/auth/login', { json })
      expect(expectStatus(signedIn, 200).data).toMatchObject({ complete: true })
      const lasting = (attributes: string[]) => [...attributes, 'max-age=2592000'].toSorted()
      expect(cookiesOf(signedIn.headers)).toEqual({
        roost_session: lasting(session),
        'XSRF-TOKEN': lasting(shown),
        roost_browser: [...session, 'max-age=15552000'].toSorted(),
      })
      expect(browser.cookies.get('roost_session')).not.toBe(before)
      const account = expectStatus(await browser.send('GET', '/api/client/account'), 200)
      expect(account.attributes.username).toBe(player.username)
      const forged = { 'x-xsrf-token': 'of another session' }
      expectStatus(await browser.send('POST', '/auth/logout', { headers: forged }), 419)
      expectStatus(await browser.send('POST', '/auth/logout'), 204)
      expectStatus(await browser.send('GET', '/api/client/account'), 401)
    })

    it('shows the picture that was sent, byte by byte', async () => {
      const { asPlayer, wire, platform } = at()
      const picture = png(640, 480)
      const form = new FormData()
      form.set('avatar', new File([Uint8Array.from(picture)], 'ich.png', { type: 'image/png' }))
      const whole = new Response(form)
      const sent = await asPlayer('POST', '/account/avatar', {
        headers: { 'content-type': String(whole.headers.get('content-type')) },
        body: new Uint8Array(await whole.arrayBuffer()),
      })
      const { image } = expectStatus(sent, 200).attributes
      expect(image.startsWith(`${platform.origin}/avatars/`)).toBe(true)
      const shown = await wire('GET', new URL(image).pathname)
      expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png'])
      expect(shown.bytes.equals(picture)).toBe(true)
    })

    it('loads the pages, the application and the description of the API', async () => {
      const { wire } = at()
      const page = await wire('GET', '/auth/login', { headers: { accept: 'text/html' } })
      expect(page.status).toBe(200)
      const [, script = ''] = /<script[^>]+src="([^"]+)"/.exec(page.text) ?? []
      const loaded = await wire('GET', script)
      expect(loaded.status).toBe(200)
      expect(loaded.headers.get('content-type')).toMatch(/^(text|application)\/javascript/)
      expect(loaded.headers.get('cache-control')).toContain('immutable')
      const description = await wire('GET', '/openapi.json')
      expect(JSON.parse(description.text).openapi).toBe('3.1.0')
      const etag = description.headers.get('etag') ?? ''
      expect(etag).not.toBe('')
      const again = await wire('GET', '/openapi.json', { headers: { 'if-none-match': etag } })
      expect([again.status, again.text]).toEqual([304, ''])
    })
  })
}
