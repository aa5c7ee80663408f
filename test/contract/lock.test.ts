import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

type Locked = { optionalDependencies?: Record<string, string> }

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }

describe('the lock file', () => {
  // `npm ci` refuses a lock that lacks a binary of another platform, which a registry may not have had.
  it('names the binaries of every platform', () => {
    const names = new Set(Object.keys(lock.packages).map((path) => path.split('node_modules/').at(-1)))
    const missing = Object.entries(lock.packages).flatMap(([path, locked]) =>
      Object.keys(locked.optionalDependencies ?? {}).filter((name) => path !== '' && !names.has(name)),
    )
    expect(missing).toEqual([])
  })
})
