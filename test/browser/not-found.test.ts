import { describe, expect, it } from 'vitest'
import { makeUser } from '../support/factories.ts'
import { openBrowser, openSignedInBrowser } from '../support/browser.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('an address that nothing answers', () => {
  it.each(['/nothing', '/server/a/b/c/d', '/auth/nothing'])(
    'is a page of the application for a browser: %s',
    async (path) => {
      for (const browser of [
        await openBrowser(world),
        await openSignedInBrowser(world, await makeUser(world)),
      ]) {
        const answer = await browser.request('GET', path, undefined, { headers: html })
        expect(answer.status).toBe(404)
        expect(answer.headers.get('content-type')).toBe('text/html; charset=UTF-8')
        expect(answer.headers.get('content-security-policy')).toContain("script-src 'self' 'nonce-")
        expect(answer.text).toContain('<title>Page not found · Roost</title>')
      }
    },
  )

  it.each([
    ['GET', '/nothing', {}],
    ['GET', '/nothing', { accept: 'application/json' }],
    ['GET', '/nothing', { ...html, authorization: 'Bearer ptlc_a' }],
    ['POST', '/nothing', html],
    ['GET', '/api/nothing', html],
    ['GET', '/api/client/nothing', html],
    ['GET', '/jobs/nothing', html],
    ['GET', '/assets/nothing.js', html],
  ])('is an error of the API for any other caller: %s %s', async (method, path, headers) => {
    const browser = await openBrowser(world)
    const answer = await browser.request(method, path, undefined, { headers })
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(answer.body.errors[0].code).toMatch(/^(NotFoundHttpException|AuthenticationException)$/)
  })
})
