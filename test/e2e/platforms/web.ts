import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { chromiumPath } from '../../support/chromium-path.ts'
import { openPageDriver, testTimeout } from '../web/page-driver.ts'
import { expectStatus, type Fixtures } from './fixtures.ts'

const hasChromium = existsSync(chromiumPath)
if (!hasChromium) console.log(`SKIPPED the application in a browser: no Chromium at ${chromiumPath}.`)

/** Defines the tests of the application in a real browser: assets, texts, content security policy and WebSocket. */
export function webOn(at: () => Fixtures): void {
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
      expect(opened.flatMap(({ problems, refused }) => [...problems(), ...refused])).toEqual([])
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
      const { page, button, state, heading, ...driver } = await sitDown()
      await driver.signIn(at().player)
      await driver.openServer('First world')
      await button('Start').click()
      await driver.consoleSays(/Demo world ready on port \d+/)
      await driver.sendCommand('say Grüße aus dem Browser')
      await driver.consoleSays('[Server] Grüße aus dem Browser')
      await button('Stop').click()
      await state('Offline').waitFor()
      await page.goto(`/server/${server.identifier}/nowhere`)
      await heading('Page not found').waitFor()
      await driver.choose('Account menu', 'Sign out')
      await heading('Sign in').waitFor()
    })

    it('shows the chosen picture, and is in German for users who choose it', async () => {
      const { asPlayer } = at()
      const setBack = { json: { language: 'auto' } }
      onTestFinished(async () => void expectStatus(await asPlayer('PUT', '/account/language', setBack), 200))
      const { page, button, heading, ...driver } = await sitDown()
      await driver.signIn(at().player)
      await page.goto('/account')
      const picture = { name: 'ich.png', mimeType: 'image/png', buffer: await page.screenshot() }
      await page.getByLabel('Upload an avatar').setInputFiles(picture)
      await button('Use this picture').click()
      await driver.toast('Your avatar has been changed.').waitFor()

      await page.getByLabel('Language').selectOption('Deutsch')
      await heading('Konto').waitFor()
      await page.getByLabel('Sprache').waitFor()
      const shown = page.getByRole('main').locator('img[src^="/avatars/"][src$=".webp"]')
      await expect.poll(() => shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(512)
    })

    it('adds a passkey, and signs in by it when the browser suggests it', async () => {
      const { page, button, heading, dialog, ...driver } = await sitDown()
      await driver.addAuthenticator()
      await driver.signIn(at().player)
      await page.goto('/account/sign-in')
      await button('Add passkey').click()
      const dialogBox = dialog('Add passkey')
      await dialogBox.getByLabel('Name of the passkey').fill('Laptop')
      await dialogBox.getByLabel('Current password').fill(at().player.password)
      await dialogBox.getByRole('button', { name: 'Add', exact: true }).click()
      await driver.toast('The passkey has been added.').waitFor()
      // The authenticator approves the suggestion of the page before a button could be pressed.
      const signedIn = page.waitForResponse((answer) => answer.url().endsWith('/auth/passkeys/login'))
      await driver.choose('Account menu', 'Sign out')
      expect((await signedIn).status()).toBe(200)
      await heading('Servers').waitFor()
    })

    it('shows the API without a session, and loads its files only once', async () => {
      const { page, heading, keptFor } = await sitDown()
      const isShown = async () => {
        await heading('API reference').waitFor()
        await page.getByText('List your servers').first().waitFor()
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

/** Reads in the page how many bytes of each asset came over the network. */
const bytesOfFiles = () =>
  performance
    .getEntriesByType('resource')
    .filter(({ name }) => name.includes('/assets/'))
    .map((entry) => (entry as PerformanceResourceTiming).transferSize)

type Visit = Awaited<ReturnType<typeof openVisit>>

/** Opens a page driver that records refused requests and the Cache-Control of each asset. */
async function openVisit(chromium: Chromium, origin: string) {
  const driver = await openPageDriver(chromium, origin)
  const refused: string[] = []
  const keptFor = new Map<string, string>()
  driver.page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (pathname.startsWith('/assets/')) keptFor.set(pathname, response.headers()['cache-control'] ?? '')
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
  })
  return { ...driver, refused, keptFor }
}
