import { beforeEach, describe, expect, it } from 'vitest'
import type { User } from '../../src/db/tables/users.ts'
import { openBrowser } from '../support/browser.ts'
import { makeUser } from '../support/factories.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
let user: User

beforeEach(async () => {
  user = await makeUser(world, { email: 'Mara@example.test' })
})

/** Requests a link in a browser from a new network. */
async function forget(email: unknown, ip: string, headers: Record<string, string> = {}) {
  const browser = await openBrowser(world, { ip })
  return browser.request('POST', '/auth/password', { email }, { headers })
}

describe('the mail with a link to another password', () => {
  it('AU-4, NW-4: brings a link to the configured address, whatever the request calls the panel', async () => {
    for (const [name, value] of [
      ['host', 'evil.test'],
      ['x-forwarded-host', 'evil.test'],
      ['forwarded', 'host=evil.test;proto=https'],
      ['x-forwarded-proto', 'evil'],
      ['x-original-url', '/evil.test'],
      ['referer', 'https://evil.test/'],
    ] as const) {
      const answer = await forget(user.email, '192.0.2.1', { [name]: value })
      expect(answer.status, name).toBe(200)
      await world.runJobs()
      world.clock.advance(61)
    }
    const mails = await world.mails()
    expect(mails).toHaveLength(6)
    for (const { text, html } of mails) {
      expect(text.match(/https?:\/\/[^/]+/g)).toEqual([panelUrl])
      expect(`${text}${html}`).not.toMatch(/evil/)
    }
  })

  it('AU-4: goes to no other address than that of the account', async () => {
    for (const email of [
      `${user.email}\r\nBcc: evil@evil.test`,
      `${user.email},evil@evil.test`,
      `${user.email} evil@evil.test`,
      [user.email, 'evil@evil.test'],
      { address: user.email },
    ]) {
      expect((await forget(email, '192.0.2.1')).status, JSON.stringify(email)).toBe(422)
    }
    await world.runJobs()
    expect(await world.mails()).toEqual([])
  })
})
