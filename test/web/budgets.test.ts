import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Manifest, type Rolldown } from 'vite'
import { beforeAll, describe, expect, it, vi } from 'vitest'

const kilobyte = 1024
const configFile = fileURLToPath(new URL('../../src/web/vite.config.ts', import.meta.url))

let manifest: Manifest
let sizes: Map<string, number>

beforeAll(async () => {
  // As in a real build: libraries leave out what helps developers.
  vi.stubEnv('NODE_ENV', 'production')
  const built = (await build({
    configFile,
    logLevel: 'error',
    build: { write: false },
  })) as Rolldown.RolldownOutput
  vi.unstubAllEnvs()
  const contents = built.output.map(
    (file) => [file.fileName, file.type === 'chunk' ? file.code : file.source] as const,
  )
  sizes = new Map(contents.map(([name, content]) => [name, gzipSync(content, { level: 9 }).byteLength]))
  manifest = JSON.parse(String(new Map(contents).get('.vite/manifest.json'))) as Manifest
})

/** Lists every file that must be loaded before these modules run, with their styles. */
function filesOf(modules: string[]): Set<string> {
  const seen = new Set<string>()
  const files = new Set<string>()
  const visit = (name: string) => {
    if (seen.has(name)) return
    seen.add(name)
    const chunk = manifest[name]
    if (!chunk) throw new Error(`The build has no ${name}.`)
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file)
    for (const imported of chunk.imports ?? []) visit(imported)
  }
  for (const name of modules) visit(name)
  return files
}

const weightOf = (files: Iterable<string>, ending: string) =>
  [...files]
    .filter((file) => file.endsWith(ending))
    .reduce((sum, file) => sum + (sizes.get(file) ?? Number.NaN), 0)

/** Lists a page and its layouts. */
const page = (route: string, ...around: string[]) => [
  'main.tsx',
  ...[...around, route].map((name) => `routes/${name}.tsx?tsr-split=component`),
]
const home = page('_app/index', '_app/route')
const ofServer = (name: string) =>
  page(`_app/server/$server/${name}`, '_app/route', '_app/server/$server/route')

/** Modules that pages load by themselves once they are shown. */
const charts = 'server/usage/stored-charts.tsx'
const terminal = 'server/console/terminal-view.tsx'
const consolePage = [...ofServer('index'), terminal]

/** Modules that are loaded on demand: for an action, one kind of file, or one state of a server. */
const onDemand = [
  /^components\/(lazy-dialog|lazy-menu)\.tsx$/,
  /^app\/(command-dialogs|server-switcher-list)\.tsx$/,
  /^acting\//,
  /^home\/(bulk-bar|folder-dialogs)\.tsx$/,
  /^notifications\/notifications-panel\.tsx$/,
  /^server\/installation-details\.tsx$/,
  /^server\/editor\/(check-(json|yaml)\.ts|(check-note|save-obstacle|unsupported-file)\.tsx)$/,
  /^server\/(difference|preview)\//,
  /^server\/files\/(add-menu-items|collision-dialog|deep-search|file-dialogs|file-menu-items|selection-bar|transfer-tray)\.tsx$/,
  /^server\/files\/(download-packed|find-replacements|upload-queue)\.ts$/,
  /node_modules\/(cronstrue|@codemirror\/(lang-|legacy-modes))/,
]

/** Counts the gzip bytes of the scripts of one page beyond those of others. */
function beyond(others: string[], modules: string[]): number {
  const first = filesOf(others)
  return weightOf(
    [...filesOf(modules)].filter((file) => !first.has(file)),
    '.js',
  )
}

/** Counts the bytes of a route with all that it may load, without what `onDemand` names. */
function wholeRoute(modules: string[]): number {
  const seen = new Set(modules)
  for (const name of seen) {
    const chunk = manifest[name]
    const later = (chunk?.dynamicImports ?? []).filter((next) => !next.includes('?tsr-split'))
    const loaded = later.filter((next) => !onDemand.some((pattern) => pattern.test(next)))
    for (const next of [...(chunk?.imports ?? []), ...loaded]) seen.add(next)
  }
  return weightOf(filesOf([...seen]), '.js')
}

/** Lists the layouts around a page, outermost first. */
function layoutsOf(route: string): string[] {
  const folders = route.split('/').slice(0, -1)
  return folders
    .map((_folder, at) => `${folders.slice(0, at + 1).join('/')}/route`)
    .filter((layout) => `routes/${layout}.tsx?tsr-split=component` in manifest)
}

const allRoutes = () =>
  Object.keys(manifest)
    .map((name) => /^routes\/(.*)\.tsx\?tsr-split=component$/.exec(name)?.[1] ?? '')
    .filter((name) => name !== '' && !/(^|\/)route$/.test(name))

const codeFilesOf = (modules: string[]) => [...filesOf(modules)].filter((file) => file.endsWith('.js'))

describe('what a browser loads', () => {
  it.each([
    ['the sign-in page', page('auth/login', 'auth/route'), 110],
    ['the home page', home, 150],
    ['the console', consolePage, 250],
    ['the files of a server', ofServer('files/index'), 190],
    ['the editor', ofServer('files/edit'), 280],
  ])('for %s is at most %3$i KB of scripts', (_name, modules, limit) => {
    expect(weightOf(filesOf(modules), '.js')).toBeLessThan(limit * kilobyte)
  })

  it('for the first page is at most 20 KB of styles, and 12 files of code', () => {
    for (const modules of [home, page('auth/login', 'auth/route')])
      expect(weightOf(filesOf(modules), '.css')).toBeLessThan(20 * kilobyte)
    expect(codeFilesOf(home).length).toBeLessThanOrEqual(12)
  })

  it('for the charts of usage is at most 28 KB beyond their page', () => {
    const usage = ofServer('usage')
    expect(beyond(usage, [...usage, charts])).toBeLessThan(28 * kilobyte)
  })

  it('for the editor is at most 116 KB more, and 300 KB in all with any language', () => {
    const editor = ofServer('files/edit')
    expect(beyond(home, editor)).toBeLessThan(116 * kilobyte)
    const languages = Object.keys(manifest).filter((name) =>
      /node_modules\/@codemirror\/(lang-|legacy-modes)/.test(name),
    )
    expect(languages.length).toBeGreaterThan(10)
    for (const language of languages) {
      expect(wholeRoute([...editor, language]), language).toBeLessThan(300 * kilobyte)
    }
  })

  it('is at most 300 KB in all for any page, with what it loads by itself', () => {
    const routes = allRoutes()
    expect(routes.length).toBeGreaterThan(20)
    for (const route of routes) {
      expect(wholeRoute(page(route, ...layoutsOf(route))), route).toBeLessThan(300 * kilobyte)
    }
    const whole = wholeRoute(consolePage)
    expect(whole).toBeGreaterThan(weightOf(filesOf(consolePage), '.js'))
  })

  it('has the API reference on its own page alone', () => {
    const own = manifest['routes/docs.tsx?tsr-split=component']?.file ?? ''
    const others = allRoutes().filter((route) => route !== 'docs')
    for (const route of others) expect(filesOf(page(route, ...layoutsOf(route))).has(own), route).toBe(false)
  })
})
