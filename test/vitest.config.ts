import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { defineConfig } from 'vitest/config'
import { chromiumPath } from './support/chromium-path.ts'

/** Suites that go through the surfaces: they run once per database driver. */
const surfaces = ['test/{application,browser,client,remote,jobs}/**/*.test.ts']
/** Suites that need a real browser. */
const inChromium = ['test/e2e/web/**']
const shared = {
  testTimeout: 30_000,
  hookTimeout: 90_000,
  isolate: false,
  pool: 'forks' as const,
  // Real processes on a shared machine: one test in thousands may lose a race with it. `.ci/run` names who needed two tries.
  retry: process.env.CI ? 1 : 0,
}

/** Whether something listens where the tests look for PostgreSQL. */
function isReachable(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname, port: Number(url.port || 5432), timeout: 1000 })
    const end = (reachable: boolean) => {
      socket.destroy()
      resolve(reachable)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}

const databaseUrl = new URL(process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres')
const hasPostgres = await isReachable(databaseUrl)
if (!hasPostgres) {
  if (process.env.CI) throw new Error(`CI needs PostgreSQL at ${databaseUrl.host}.`)
  console.warn(
    `Skipped: the suites on PostgreSQL, by pg and by the neon driver: nothing at ${databaseUrl.host}.`,
  )
}

const hasChromium = existsSync(chromiumPath)
if (!hasChromium) {
  if (process.env.CI) throw new Error(`CI needs Chromium at ${chromiumPath}.`)
  console.warn(`Skipped: the suites in a browser: no Chromium at ${chromiumPath}.`)
}

const onDriver = (driver: 'postgres' | 'neon') => ({
  test: { ...shared, name: driver, include: surfaces, env: { ROOST_TEST_DRIVER: driver } },
})

export default defineConfig({
  test: {
    maxWorkers: 2,
    // What is logged where everything went well only hides what did not.
    silent: 'passed-only',
    projects: [
      {
        test: {
          ...shared,
          name: 'pglite',
          include: ['test/**/*.test.ts'],
          exclude: hasChromium ? [] : inChromium,
        },
      },
      ...(hasPostgres ? [onDriver('postgres'), onDriver('neon')] : []),
    ],
  },
})
