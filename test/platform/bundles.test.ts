import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const bin = (name: string) => join('node_modules', '.bin', name)
const env = { ...process.env, CI: '1', WRANGLER_SEND_METRICS: 'false', SLS_TELEMETRY_DISABLED: '1' }
const limits = { env, timeout: 120_000, maxBuffer: 16 * 1024 * 1024 }

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roost-bundles-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

describe('Workers', { timeout: 130_000 }, () => {
  it.each(['', 'client', 'application', 'remote', 'browser', 'jobs'])(
    'bundle the environment "%s"',
    async (name) => {
      const out = join(directory, `worker-${name || 'all'}`)
      const { stdout } = await run(
        process.execPath,
        [bin('wrangler'), 'deploy', '--dry-run', `--env=${name}`, '--outdir', out],
        limits,
      )
      // Environments inherit the files of the top level; where no page is shown, no route leads to them.
      expect(stdout).toMatch(/Read \d+ files from the assets directory/)
      const file = (await readdir(out)).find((each) => each.endsWith('.js')) ?? ''
      const code = await readFile(join(out, file))
      // Workers take 3 MiB compressed on the smallest plan; the parser of XML that browsers have does not exist there.
      // Mail servers are for platforms that may reach them.
      expect(gzipSync(code).byteLength).toBeLessThan(1280 * 1024)
      expect(code.includes('DOMParser')).toBe(false)
      expect(code.includes('nodemailer')).toBe(false)
    },
  )
})

describe('Lambda', { timeout: 130_000 }, () => {
  it("packages the application's files with the function that shows pages, and with no other", async () => {
    const out = join(directory, 'lambda')
    await run(process.execPath, [bin('serverless'), 'package', '--package', out], limits)
    // An archive holds the names of its files as they are.
    const namesIn = async (name: string) => (await readFile(join(out, `${name}.zip`))).toString('latin1')
    const browser = await namesIn('browser')
    const files = await readdir('dist/web/assets')
    expect(files.filter((file) => !browser.includes(`dist/web/assets/${file}`))).toEqual([])
    expect(browser).toContain('dist/web/openapi.json')
    for (const name of ['client', 'application', 'remote', 'jobs']) {
      expect((await namesIn(name)).includes('dist/web/'), name).toBe(false)
    }
  })
})
