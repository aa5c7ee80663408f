import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Manifest, type Rolldown } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'

const kilobyte = 1000
const configFile = fileURLToPath(new URL('../../src/web/vite.config.ts', import.meta.url))

let manifest: Manifest
let sizes: Map<string, number>

beforeAll(async () => {
  const built = (await build({
    configFile,
    logLevel: 'error',
    build: { write: false },
  })) as Rolldown.RolldownOutput
  const contents = built.output.map(
    (file) => [file.fileName, file.type === 'chunk' ? file.code : file.source] as const,
  )
  sizes = new Map(contents.map(([name, content]) => [name, gzipSync(content, { level: 9 }).byteLength]))
  manifest = JSON.parse(String(new Map(contents).get('.vite/manifest.json'))) as Manifest
})

/** Every file that has to be there before these modules run, with the styles they bring. */
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

/** A page with what surrounds it. */
const page = (route: string, ...around: string[]) => [
  'main.tsx',
  ...[...around, route].map((name) => `routes/${name}.tsx?tsr-split=component`),
]
const home = page('_app/index', '_app/route')
const about = (name: string) => page(`_app/server/$server/${name}`, '_app/route', '_app/server/$server/route')

/** Gzip bytes of scripts of one page beyond those of the first. */
function beyondHome(modules: string[]): number {
  const first = filesOf(home)
  return weightOf([...filesOf(modules)].filter((file) => !first.has(file)), '.js')
}

describe('what a browser loads', () => {
  it('for the first page is at most 170 kB of scripts and 20 kB of styles', () => {
    for (const modules of [home, page('auth/login', 'auth/route')]) {
      expect(weightOf(filesOf(modules), '.js')).toBeLessThan(170 * kilobyte)
      expect(weightOf(filesOf(modules), '.css')).toBeLessThan(20 * kilobyte)
    }
  })
})
