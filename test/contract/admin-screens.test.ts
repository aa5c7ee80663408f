import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { levelResources } from '../../src/web/admin/level-resources.ts'
import { adminScreens } from '../e2e/web/screens.ts'

const folder = new URL('../../src/web/admin/', import.meta.url)
const paths = adminScreens.map(({ path }) => path.replace(/^\/admin\/?/, '').split('?')[0] ?? '')
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8')

/** Lists the paths of the pages, as the application has them; a part with a dollar is variable. */
const patterns = [...read('pages.ts').matchAll(/\bpage\(\s*'([^']*)'/g)].map(([, path = '']) => path)

/** Lists the parts of the pages that have some: each is a member of its `parts`. */
const parts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((file) => {
  if (!file.endsWith('-page.tsx')) return []
  const [, members] = /^const parts = \{([^}]*)\}/m.exec(read(file)) ?? []
  const names = [...(members ?? '').matchAll(/'?([a-z_-]*)'?: [A-Z]/g)].map(([, name = '']) => name)
  return names.map((name) => `${file.split('/')[0]}/$id${name && `/${name}`}`)
})

const isShown = (pattern: string) => {
  const form = new RegExp(`^${pattern.replaceAll(/\$[a-z]+/g, '[^/]+')}$`)
  return paths.some((path) => form.test(path))
}

describe('the screens of administrators that are looked at', () => {
  it('are one of every page and of every part of one', () => {
    expect(patterns.length).toBeGreaterThan(levelResources.length)
    expect(parts.length).toBeGreaterThan(20)
    expect([...patterns, ...parts].filter((pattern) => !isShown(pattern))).toEqual([])
  })

  it('are of pages that there are', () => {
    const forms = patterns.map((pattern) => new RegExp(`^${pattern.replaceAll(/\$[a-z]+/g, '[^/]+')}$`))
    expect(paths.filter((path) => !forms.some((form) => form.test(path)))).toEqual([])
  })
})
