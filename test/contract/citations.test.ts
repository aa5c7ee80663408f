import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { apiInfo, listMountedRoutes } from '../../src/cli/api-info.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { anchorsIn, readPage, root, ruleIds } from './doc-anchors.ts'

type Page = { path: string; text: string }

const pagesAt = (...patterns: string[]): Page[] =>
  patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .toSorted()
    .map((path) => ({ path, text: readPage(path) }))

/** The comments of a source file, each on one line. */
const commentsIn = (text: string): string =>
  Array.from(text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*(?:\n\s*\/\/ .*)*/g), ([comment]) =>
    comment.replaceAll(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' '),
  ).join('\n')

const sources = pagesAt('{src,functions,drizzle,test}/**/*.{ts,tsx}').filter(
  ({ path }) => path !== 'test/contract/citations.test.ts',
)
const comments: Page[] = [
  ...sources.map(({ path, text }) => ({ path, text: commentsIn(text) })),
  ...pagesAt('*.toml', '*.yml'),
]
const pages = pagesAt('*.md', 'docs/**/*.md', 'src/README.md')

/** Lists the matches of `pattern` as `file: match`. */
const findings = (from: Page[], pattern: RegExp): { path: string; found: string }[] =>
  from.flatMap(({ path, text }) =>
    Array.from(text.matchAll(pattern), ([whole, found = whole]) => ({ path, found })),
  )
const shown = ({ path, found }: { path: string; found: string }) => `${path}: ${found}`

const document = openApiDocument(listMountedRoutes(), apiInfo('https://panel.test'))
const operationIds = new Set(
  Object.values(document.paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId)),
)

/** Checks that `docs/page.md#anchor`, or the page alone, exists. */
function isSection(citation: string): boolean {
  const [path = '', anchor] = citation.split('#')
  if (!existsSync(join(root, path))) return false
  return anchor === undefined || anchorsIn(readPage(path)).includes(anchor)
}

/** What the build writes, and a checkout does not have. */
const built = ['src/surfaces/browser/web-assets.json']
const folders = 'adapters|cli|db|domain|http|locales|platform|surfaces|web'

describe('the map', () => {
  const map = readPage('src/README.md')
  const prose = map.replaceAll(/```[\s\S]*?```/g, '')
  const spans = Array.from(prose.matchAll(/`([^`]+)`/g), ([, span = '']) => span)

  it('names folders that exist', () => {
    const named = spans.filter((span) => /^[\w./-]+\/$/.test(span))
    expect(named.length).toBeGreaterThan(20)
    const isFolder = (name: string) => existsSync(join(root, 'src', name)) || name === 'resources/'
    expect(named.filter((name) => !isFolder(name))).toEqual([])
  })

  it('names functions and types that the code has', () => {
    const code = sources.filter(({ path }) => !path.startsWith('test/')).map(({ text }) => text)
    const named = spans.filter((span) => /^(?:[a-z]+[A-Z]\w*|[A-Z][a-z]\w*)$/.test(span))
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !code.some((text) => new RegExp(`\\b${name}\\b`).test(text)))).toEqual([])
  })

  it('fits on a page', () => {
    expect(map.split('\n').length).toBeLessThanOrEqual(91)
  })
})

describe('citations', () => {
  it('of the specification name an operation of the OpenAPI document or a section of docs/', () => {
    const cited = findings(comments, /\bSpec: (\S+?)[.,;)]*(?=\s|$)/g)
    expect(cited.length).toBeGreaterThan(100)
    const lost = cited.filter(
      ({ found }) => !operationIds.has(found) && !(found.startsWith('docs/') && isSection(found)),
    )
    expect(lost.map(shown)).toEqual([])
  })

  it('of the daemon name a route of it or a section of docs/wings.md', () => {
    const cited = findings(comments, /\bWings: (.{1,60})/g)
    expect(cited.length).toBeGreaterThan(100)
    const route = /^(?:(?:GET|POST|PUT|PATCH|DELETE|WS)(?:, )?)+ [/…]/
    expect(
      cited.filter(({ found }) => !route.test(found) && !found.startsWith('docs/wings.md#')).map(shown),
    ).toEqual([])
  })

  it('of rules name one in docs/rules.md', () => {
    const known = ruleIds()
    expect(new Set(known).size).toBe(known.length)
    const families = [...new Set(known.map((id) => id.split('-')[0]))].join('|')
    // Curves of elliptic keys are called P-256 and so on.
    const cited = findings([...sources, ...pages], new RegExp(`\\b(?:${families})-\\d{1,2}\\b`, 'g'))
    expect(cited.length).toBeGreaterThan(100)
    expect(cited.filter(({ found }) => !known.includes(found)).map(shown)).toEqual([])
  })

  it('of sections lead to pages and headings that exist', () => {
    const cited = findings([...sources, ...comments, ...pages], /\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g)
    expect(cited.length).toBeGreaterThan(10)
    expect(cited.filter(({ found }) => !isSection(found)).map(shown)).toEqual([])
  })

  it('of files name files that exist', () => {
    const extension = '(?:tsx?|sql|toml|yml|json|txt|tsv|css|md)'
    const fromRoot = findings(
      [...comments, ...pages],
      new RegExp(`(?<![\\w/.-])(?:src|test|functions|drizzle|docs)/[\\w./-]+\\.${extension}\\b`, 'g'),
    )
    const inSource = findings(
      [...comments, ...pages],
      new RegExp(`(?<![\\w/.:-])(?:${folders})/[\\w./-]+\\.${extension}\\b`, 'g'),
    )
    const missing = [
      ...fromRoot.filter(({ found }) => !existsSync(join(root, found)) && !built.includes(found)),
      ...inSource.filter(({ found }) => !existsSync(join(root, 'src', found))),
    ]
    expect(missing.map(shown)).toEqual([])
  })
})
