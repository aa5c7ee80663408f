import { existsSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { chromiumPath } from './chromium-path.ts'
import { createTemplate, testDatabaseUrl } from './database.ts'

/** Tiers of which only some suites need PostgreSQL; they skip those that cannot run. */
const tolerant = ['dev', 'e2e']

/**
 * Before a tier that needs services: makes the database that those of this run are copied from. At the end it and all
 * of its copies go. CI has to have every service.
 */
export async function setup({ name }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (name === 'e2e' && !existsSync(chromiumPath)) lack(`Chromium at ${chromiumPath}`, true)
  if (process.env.ROOST_TEST_TEMPLATE) return undefined
  try {
    const template = await createTemplate()
    process.env.ROOST_TEST_TEMPLATE = template.name
    return template.drop
  } catch (error) {
    lack(`PostgreSQL at ${new URL(testDatabaseUrl).host}`, tolerant.includes(name), error)
    return undefined
  }
}

function lack(what: string, isTolerable: boolean, cause?: unknown): void {
  if (process.env.CI || !isTolerable) throw new Error(`These tests need ${what}.`, { cause })
  console.warn(`Skipped: suites that need ${what}.`)
}
