import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { vi } from 'vitest'
import { setLogLevel } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'
import { localCache } from '../../src/platform/local/cache.ts'
import { openPanel, type Services } from '../../src/platform/open-panel.ts'
import { restartSerialNumbers } from './factories.ts'
import type { World } from './world.ts'

/**
 * Puts a world back to how it was opened: no rows and ids from 1, an empty cache and object store, no messages,
 * mails, calls in flight or open circuits, the services and the configuration of `openWorld`, and the clock at now.
 * Waits for work that the test before left behind.
 */
export async function resetWorld(world: World): Promise<void> {
  await Promise.allSettled(world.background.splice(0))
  await world.database.empty()
  await rm(join(world.folder, 'outbox'), { recursive: true, force: true })
  restartSerialNumbers()
  world.clock.now = new Date()
  world.messages.length = 0
  world.database.statements.length = 0
  world.objects.clear()
  const added = Object.keys(world.services).filter((name) => !(name in world.defaults))
  for (const name of added) delete (world.services as Record<string, unknown>)[name]
  Object.assign(world.services, world.defaults, servicesWithMemory(world))
  const context = {
    ip: '127.0.0.1',
    requestId: 'test',
    defer: (work: Promise<unknown>) => void world.background.push(work),
  }
  Object.assign(world.panel, openPanel(world.services, context), { actor: { kind: 'system' } })
}

/** Creates the services that have state, and the configuration, which tests change in place. */
const servicesWithMemory = (world: World) =>
  ({
    config: { ...world.defaults.config },
    cache: localCache(() => world.clock.now.getTime()),
    inFlight: new Map(),
    circuitBreakers: new Map(),
    metrics: createMetrics(),
  }) satisfies Partial<Services>

/** Puts back what a test changed of its process: spies, the clock and the log. */
export function resetProcess(): void {
  vi.useRealTimers()
  vi.restoreAllMocks()
  setLogLevel('warn')
}

/** Puts back what a test file changed of its process for all of its tests. */
export function resetEnvironment(): void {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
}
