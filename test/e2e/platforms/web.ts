import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { chromiumPath } from '../../support/chromium-path.ts'
import { openVisitor, testTimeout } from '../web/visitor.ts'
import { expectStatus, type Stage } from './stage.ts'

const hasChromium = existsSync(chromiumPath)
if (!hasChromium) console.log(`SKIPPED the application in a browser: no Chromium at ${chromiumPath}.`)

/** The application in a real browser: its files, its texts, its content policy and its socket. */
export function webOn(at: () => Stage): void {
  describe.skipIf(!hasChromium)('the application', { timeout: testTimeout }, () => {
    let chromium: Chromium
    const visits: Visit[] = []
    beforeAll(async () => {
      chromium = await startChromium()
    })
    afterAll(() => chromium?.close())
    afterEach(async () => {
      const opened = visits.splice(0)
      await Promise.all(opened.map(({ context }) => context.close()))
      expect(opened.flatMap(({ troubles, refused }) => [...troubles(), ...refused])).toEqual([])
    })
    const sitDown = async () => {
      const visit = await openVisit(chromium, at().platform.origin)
      visits.push(visit)
      return visit
    }

    it('starts a server and shows its console, from signing in to signing out', async () => {
      const { asOwner, server } = at()
      const kill = { json: { signal: 'kill' } }
      onTestFinished(async () => void expectStatus(await asOwner('POST', '/power', kill), 204))
      const { page, button, state, heading, ...visitor } = await sitDown()
      await visitor.signIn(at().player)
      await visitor.openServer('First world')
      await button('Start').click()
      await visitor.consoleSays(/Demo world ready on port \d+/)
      await visitor.sendCommand('say Grüße aus dem Browser')
      await visitor.consoleSays('[Server] Grüße aus dem Browser')
      await button('Stop').click()
      await state('Offline').waitFor()
      await page.goto(`/server/${server.identifier}/nowhere`)
      await heading('This does not exist, or you have no access to it.').waitFor({ state: 'attached' })
      await visitor.choose('Your account', 'Sign out')
      await heading('Sign in').waitFor()
    })

    it('shows the picture that was chosen, and speaks German to whoever wants it', async () => {
      const { asPlayer } = at()
      const setBack = { json: { language: 'auto' } }
      onTestFinished(async () => void expectStatus(await asPlayer('PUT', '/account/language', setBack), 200))
      const { page, button, heading, ...visitor } = await sitDown()
      await visitor.signIn(at().player)
      await page.goto('/account')
      const picture = { name: 'ich.png', mimeType: 'image/png', buffer: await page.screenshot() }
      await page.getByLabel('Choose a picture').setInputFiles(picture)
      await button('Use this picture').click()
      await visitor.said('Your picture has been changed.').waitFor()

      await page.getByLabel('Language').selectOption('Deutsch')
      await heading('Konto').waitFor()
      await page.getByLabel('Sprache').waitFor()
      const shown = page.getByRole('main').locator('img[src^="/avatars/"][src$=".webp"]')
      await expect.poll(() => shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(512)
    })

    it('adds a passkey, and signs in by it when the browser suggests it', async () => {
      const { page, button, heading, dialog, ...visitor } = await sitDown()
      await visitor.addAuthenticator()
      await visitor.signIn(at().player)
      await page.goto('/account/sign-in')
      await button('Add passkey').click()
      const asked = dialog('Add passkey')
      await asked.getByLabel('Name of the passkey').fill('Laptop')
      await asked.getByLabel('Current password').fill(at().player.password)
      await asked.getByRole('button', { name: 'Add', exact: true }).click()
      await visitor.said('The passkey has been added.').waitFor()
      // The authenticator agrees to what the page suggests before anybody could press a button.
      const signedIn = page.waitForResponse((answer) => answer.url().endsWith('/auth/passkeys/login'))
      await visitor.choose('Your account', 'Sign out')
      expect((await signedIn).status()).toBe(200)
      await heading('Servers').waitFor()
    })

    it('shows the API to anybody, and loads its files but once', async () => {
      const { page, heading, keptFor } = await sitDown()
      const isShown = async () => {
        await heading('API reference').waitFor()
        await page.getByText('List the servers within reach').first().waitFor()
      }
      await page.goto('/docs')
      await isShown()
      expect(new Set(keptFor.values())).toEqual(new Set(['public, max-age=31536000, immutable']))
      await page.reload()
      await isShown()
      expect(new Set(await page.evaluate(bytesOfFiles))).toEqual(new Set([0]))
    })
  })
}

/** How much of each file of the application came over the network since the page began, in the page. */
const bytesOfFiles = () =>
  performance
    .getEntriesByType('resource')
    .filter(({ name }) => name.includes('/assets/'))
    .map((entry) => (entry as PerformanceResourceTiming).transferSize)

type Visit = Awaited<ReturnType<typeof openVisit>>

/** A visitor with the calls of pages that were refused, and what each file of the application says of its keeping. */
async function openVisit(chromium: Chromium, origin: string) {
  const visitor = await openVisitor(chromium, origin)
  const refused: string[] = []
  const keptFor = new Map<string, string>()
  visitor.page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (pathname.startsWith('/assets/')) keptFor.set(pathname, response.headers()['cache-control'] ?? '')
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
  })
  return { ...visitor, refused, keptFor }
}
