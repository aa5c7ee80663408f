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
      await run(
        process.execPath,
        [bin('wrangler'), 'deploy', '--dry-run', `--env=${name}`, '--outdir', out],
        limits,
      )
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
