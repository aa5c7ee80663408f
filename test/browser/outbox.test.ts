import { expect, it } from 'vitest'
import { openBrowser } from '../support/browser.ts'
import { known, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

async function visit(values: object) {
  const { username } = await makeUser(world, { passwordHash: known.passwordHash, ...values })
  const browser = await openBrowser(world)
  await browser.request('POST', '/auth/login', { user: username, password: known.password })
  return browser
}
const message = {
  to: 'mara@example.test',
  from: { name: null, address: null },
  subject: '<b>Hello</b>',
  text: '<script>alert(1)</script> & "more"',
  html: '<h1>never shown</h1>',
}

it('shows administrators the mails that were kept, newest first, as text that can do nothing', async () => {
  const browser = await visit({ rootAdmin: true })
  expect((await browser.request('GET', '/outbox')).text).toContain('No mail has been sent yet.')
  await world.services.mail.send(message)
  await new Promise((resolve) => setTimeout(resolve, 5))
  await world.services.mail.send({ ...message, subject: 'Second' })
  const { status, text, headers } = await browser.request('GET', '/outbox')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^text\/html/)
  expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*; sandbox$/)
  expect(headers.get('cache-control')).toBe('no-store, private')
  expect(text).toContain('<pre>&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;</pre>')
  expect(text).toContain('&lt;b&gt;Hello&lt;/b&gt;')
  expect(text).not.toMatch(/<script|<b>|never shown/)
  expect(text.indexOf('Second')).toBeLessThan(text.indexOf('Hello'))
})

it('is for administrators alone, and is not there where mail goes out', async () => {
  await world.services.mail.send(message)
  const guest = await openBrowser(world)
  expect((await guest.request('GET', '/outbox')).status).toBe(401)
  const player = await visit({})
  expect((await player.request('GET', '/outbox')).status).toBe(403)
  const administrator = await visit({ rootAdmin: true })
  const { mail } = world.services
  Object.assign(world.services, { mail: { send: mail.send } })
  expect((await administrator.request('GET', '/outbox')).status).toBe(404)
})
