import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { writeDefaultAssets } from '../src/web/default-assets.ts'
import { chromiumPath } from './support/chromium-path.ts'
import { LongestFirst } from './support/longest-first.ts'
import { tierReporter } from './support/tier-reporter.ts'
import { filesOf, otherSurfaces, surfacesThatDiffer } from './tiers.ts'

// The browser surface imports the list of assets, which a clone without a build does not have.
writeDefaultAssets()

const hasChromium = existsSync(chromiumPath)
let order = 0

/** One tier, or one tier over another driver. They run one after another, so that workers serve many files. */
const project = (name: string, include: string[], more: object = {}) => ({
  test: {
    name,
    include,
    testTimeout: 30_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 20_000, interval: 10 } },
    isolate: false,
    pool: 'forks' as const,
    globalSetup: ['test/support/run-folder.ts'],
    setupFiles: ['test/support/setup.ts'],
    sequence: { groupOrder: (order += 1) },
    ...more,
  },
})
// Whole panels share two processors with browsers there. What needed a second try is named at the end of the run.
const retriedInCi = { retry: process.env.CI === undefined ? 0 : 1 }
const withServices = { globalSetup: ['test/support/run-folder.ts', 'test/support/services.ts'] }
const overDriver = (driver: 'postgres' | 'neon', name: string, include: string[]) =>
  project(name, include, { ...withServices, env: { ROOST_TEST_DRIVER: driver } })

export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // What is logged where everything went well only hides what did not.
    silent: 'passed-only',
    reporters: ['default', tierReporter()],
    projects: [
      project('unit', filesOf('unit')),
      project('api', filesOf('api')),
      project('services', filesOf('services'), withServices),
      overDriver('postgres', 'postgres', surfacesThatDiffer),
      overDriver('neon', 'neon', surfacesThatDiffer),
      overDriver('postgres', 'postgres-rest', otherSurfaces),
      overDriver('neon', 'neon-rest', otherSurfaces),
      project('dev', filesOf('dev'), { ...withServices, ...retriedInCi }),
      project('e2e', filesOf('e2e'), {
        ...withServices,
        ...retriedInCi,
        exclude: hasChromium ? [] : ['test/e2e/web/**'],
      }),
      project('container', filesOf('container'), {
        globalSetup: ['test/support/run-folder.ts', 'test/support/container/setup.ts'],
      }),
    ],
  },
})
