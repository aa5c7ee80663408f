import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { chromiumPath } from './chromium-path.ts'

/** Nothing but what a test asks for: no second process for graphics, no calls of the browser's own. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** One person's browser: cookies of its own, one page, and what went wrong in it. */
export type Tab = {
  context: BrowserContext
  page: Page
  /**
   * What went wrong since it was last asked, a line each: errors of scripts and on the console, violations of the
   * content security policy among them, requests that got no answer, and files of pages that were refused.
   * Answers to calls of scripts are for these to judge.
   */
  troubles: () => string[]
  /** From now on the browser has a device that holds passkeys and knows its user, who always agrees. */
  addAuthenticator: () => Promise<void>
}

/** A running Chromium: one for each test file. */
export type Chromium = {
  browser: Browser
  openTab: (options?: BrowserContextOptions) => Promise<Tab>
  /** Ends it with all its tabs. */
  close: () => Promise<void>
}

/** Starts Chromium without a window. Certificates are not looked at: those of tests are signed by nobody. */
export async function startChromium(): Promise<Chromium> {
  const browser = await chromium.launch({ executablePath: chromiumPath, args, timeout: 60_000 })
  return {
    browser,
    openTab: async (options = {}) => {
      const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options })
      const page = await context.newPage()
      return {
        context,
        page,
        troubles: collectTroubles(page),
        addAuthenticator: () => addAuthenticator(page),
      }
    },
    close: () => browser.close(),
  }
}

function collectTroubles(page: Page): Tab['troubles'] {
  const lines: string[] = []
  page.on('pageerror', (error) => lines.push(`script: ${error.message}`))
  page.on('console', (message) => {
    // Only repeats what the events of requests tell.
    const isOfRequest = message.text().startsWith('Failed to load resource:')
    if (message.type() === 'error' && !isOfRequest) lines.push(`console: ${message.text()}`)
  })
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // A page that is left calls off what it still waits for.
    if (reason !== 'net::ERR_ABORTED') lines.push(`request: ${request.method()} ${request.url()} ${reason}`)
  })
  page.on('response', (response) => {
    const isOfPage = !['document', 'fetch', 'xhr'].includes(response.request().resourceType())
    if (response.status() >= 400 && isOfPage) lines.push(`request: ${response.status()} ${response.url()}`)
  })
  return () => lines.splice(0)
}

/** Spec: Web Authentication, virtual authenticators. */
async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}
