import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { BrowserContext, Page } from 'playwright-core'
import { themes } from './screens.ts'

type Size = { width: number; height: number }

/** The rules that read colours, or where elements are: they can end otherwise in each theme, and in each window. */
const coloursAndPlaces = [
  'color-contrast',
  'link-in-text-block',
  'target-size',
  'scrollable-region-focusable',
]

/** All rules that are not of level AAA, experimental or deprecated; that of the size of targets must be asked for. */
const allRules: RunOptions = { rules: { 'target-size': { enabled: true } } }
const fewRules: RunOptions = { runOnly: { type: 'rule', values: coloursAndPlaces } }
// What passes is not listed, and the only media asked for are sounds: both take as long as the rules.
const quickly: RunOptions = { resultTypes: ['violations'], preload: { assets: ['media'] } }

/**
 * Gives the pages of a browser axe, and prepares them for it. Colours change at once, so that none is read halfway.
 * Bars that stay in the window stand where they are in the page: what they cover there comes out when it is scrolled.
 */
export async function prepareChecks(context: BrowserContext): Promise<void> {
  await context.addInitScript(
    await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
  )
  await context.addInitScript(() => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(`
      *, *::before, *::after { transition: none !important }
      .sticky { position: relative !important; inset: auto !important }
    `)
    document.adoptedStyleSheets.push(sheet)
  })
}

/**
 * Lists what is wrong with the page in windows of these sizes, in both themes: its layout, and violations of axe of any
 * severity. Leaves the page in the first window.
 *
 * The rules that read neither colours nor places judge the markup and what of it is shown. They are asked again only
 * where these are not as they were in a window before: often they are the same in both themes, and on a laptop and a
 * monitor as on a desktop.
 */
export async function faultsIn(page: Page, windows: readonly Size[]): Promise<string[]> {
  const judged = new Set<string>()
  const faults: string[] = []
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await page.waitForFunction((name) => document.documentElement.dataset.theme === name, theme)
    // The second theme begins in the window in which the first one ended.
    for (const size of theme === themes[0] ? windows : windows.toReversed()) {
      await page.setViewportSize(size)
      const found = await faultsNow(page, judged)
      faults.push(...found.map((fault) => `${size.width} × ${size.height}, ${theme}: ${fault}`))
    }
  }
  return faults
}

async function faultsNow(page: Page, judged: Set<string>): Promise<string[]> {
  const { shown, headings, overflow } = await page.evaluate(lookAt)
  const options = judged.has(shown) ? fewRules : allRules
  judged.add(shown)
  const layout = [
    ...(headings === 1 ? [] : [`${headings} first headings`]),
    ...(overflow > 0 ? [`${overflow} pixels wider than the window`] : []),
  ]
  return [...layout, ...(await barriersOf(page, { ...options, ...quickly }))]
}

/** Reads the layout of the page, and which markup is shown. Runs in the page. */
async function lookAt() {
  // What follows the size of the window is laid out in the frame after the next.
  for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame)
  const { body, documentElement } = document
  const hidden = [...body.querySelectorAll('*')].map((element) =>
    element.checkVisibility({ visibilityProperty: true }) ? 1 : 0,
  )
  return {
    shown: `${body.outerHTML}${hidden.join('')}`,
    headings: document.querySelectorAll('h1').length,
    overflow: documentElement.scrollWidth - innerWidth,
  }
}

/** Lists accessibility violations of a page, a line each. */
async function barriersOf(page: Page, options: RunOptions): Promise<string[]> {
  const run = `axe.run(document, ${JSON.stringify(options)})`
  const { violations } = (await page.evaluate(run)) as AxeResults
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  )
}
