import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiInfo, listMountedRoutes } from '../../src/cli/api-info.ts'
import { openApiDocument } from '../../src/http/openapi.ts'

const run = promisify(execFile)
const generated = ['src/surfaces/browser/web-assets.json', 'src/web/route-tree.gen.ts'].map((path) =>
  resolve(path),
)
const copied = ['package.json', 'tsconfig.json', 'src', 'functions', 'drizzle']

let clone: string
const inClone = (path: string) => join(clone, path)
const filesOf = async () => (await readdir(inClone('dist/web/assets'))).toSorted()
const build = () =>
  run('npm', ['run', 'build'], { cwd: clone, env: { ...process.env, NODE_ENV: 'production' } })

let first: string[]

beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'roost-clone-'))
  for (const name of copied) {
    await cp(name, inClone(name), {
      recursive: true,
      filter: (source) => !generated.includes(resolve(source)),
    })
  }
  await symlink(resolve('node_modules'), inClone('node_modules'))
  await build()
  first = await filesOf()
})
afterAll(() => rm(clone, { recursive: true, force: true }))

describe('npm run build in a fresh clone', () => {
  it('writes what the pages ask for', async () => {
    const assets = JSON.parse(await readFile(inClone('src/surfaces/browser/web-assets.json'), 'utf8'))
    expect(assets.scripts.length).toBe(1)
    expect(assets.styles.length).toBeGreaterThan(0)
    expect(assets.home.length).toBeGreaterThan(2)
    const loaded: string[] = [...assets.scripts, ...assets.preloads, ...assets.styles, ...assets.home]
    expect(loaded.filter((address) => !first.includes(address.replace('/assets/', '')))).toEqual([])
    expect(await readFile(inClone('dist/web/_headers'), 'utf8')).toContain('/assets/*')
  })

  it('writes the same document of all routes that `npm run openapi` prints', async () => {
    const written = await readFile(inClone('dist/web/openapi.json'), 'utf8')
    const { stdout } = await run('npm', ['run', '--silent', 'openapi'], { maxBuffer: 16 * 1024 * 1024 })
    expect(written).toBe(stdout)
    expect(JSON.parse(written)).toEqual(
      JSON.parse(JSON.stringify(openApiDocument(listMountedRoutes(), apiInfo('/')))),
    )
  })

  it('gives the same names to the same input', async () => {
    await build()
    expect(await filesOf()).toEqual(first)
  })
})
