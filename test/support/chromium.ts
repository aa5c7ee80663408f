import {
  type APIResponse,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Route,
} from 'playwright-core'
import { chromiumPath } from './chromium-path.ts'

/** Flags that switch off background requests and the GPU process. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A browser context with its own cookies, one page, and the problems in it. */
export type Tab = {
  context: BrowserContext
  page: Page
  /**
   * Returns the problems since the last call, a line each: errors of scripts and on the console, violations of the
   * content security policy among them, requests that got no answer, and files of pages that were refused.
   * Answers to calls of scripts are for these to judge.
   */
  problems: () => string[]
  /** Adds a virtual authenticator that verifies its user and always approves. */
  addAuthenticator: () => Promise<void>
}

/** A running Chromium: one for each test file. */
export type Chromium = {
  browser: Browser
  openTab: (options?: BrowserContextOptions) => Promise<Tab>
  /** Closes it with all its tabs. */
  close: () => Promise<void>
}

/** Starts Chromium without a window. Certificates are not checked: those of tests are self-signed. */
export async function startChromium(): Promise<Chromium> {
  const browser = await chromium.launch({ executablePath: chromiumPath, args, timeout: 60_000 })
  return {
    browser,
    openTab: async (options = {}) => {
      // Requests through a worker are hidden from what a test intercepts.
      const context = await browser.newContext({
        ignoreHTTPSErrors: true,
        serviceWorkers: 'block',
        ...options,
      })
      const page = await context.newPage()
      return {
        context,
        page,
        problems: collectProblems(page),
        addAuthenticator: () => addAuthenticator(page),
      }
    },
    close: () => browser.close(),
  }
}

function collectProblems(page: Page): Tab['problems'] {
  const lines: string[] = []
  page.on('pageerror', (error) => lines.push(`script: ${error.message}`))
  page.on('console', (message) => {
    // Only repeats what the events of requests tell.
    const isOfRequest = message.text().startsWith('Failed to load resource:')
    if (message.type() === 'error' && !isOfRequest) lines.push(`console: ${message.text()}`)
  })
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // Leaving a page aborts its pending requests.
    if (reason !== 'net::ERR_ABORTED') lines.push(`request: ${request.method()} ${request.url()} ${reason}`)
  })
  page.on('response', (response) => {
    const isOfPage = !['document', 'fetch', 'xhr'].includes(response.request().resourceType())
    if (response.status() >= 400 && isOfPage) lines.push(`request: ${response.status()} ${response.url()}`)
  })
  return () => lines.splice(0)
}

/** Adds a virtual authenticator. W3C Web Authentication Level 3, section 11. */
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

/**
 * Fetches what a page has asked for, as the page would: Playwright reuses idle connections, and a busy process may close one
 * just when a request is sent on it. Browsers then send it again.
 */
export function fetchRouted(route: Route, options: Parameters<Route['fetch']>[0] = {}): Promise<APIResponse> {
  return route.fetch({ maxRetries: 3, ...options })
}
