import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { includesPort, usualPortsOf, usualPortsOfAll } from '../../src/web/admin/setup/usual-ports.ts'

const folder = join(import.meta.dirname, '../../drizzle/eggs')
const includedEggs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\/.+\.json$/.test(path))
  .map((path) => (JSON.parse(readFileSync(join(folder, path), 'utf8')) as { name: string }).name)

describe('the usual ports of games', () => {
  it('are known of every included egg', () => {
    expect(includedEggs.length).toBeGreaterThan(5)
    expect(includedEggs.filter((name) => !usualPortsOf(name))).toEqual([])
  })

  it('are listed once for each game', () => {
    expect(usualPortsOfAll(['Paper', 'Vanilla Minecraft', 'Bedrock', 'Unheard of'])).toEqual([
      { game: 'Minecraft: Java', ports: '25565-25574' },
      { game: 'Minecraft: Bedrock', ports: '19132-19141' },
    ])
  })

  it.each([
    ['25565-25574', 25_565, true],
    ['25565-25574', 25_575, false],
    ['7777, 27015-27024', 7777, true],
    ['', 25_565, false],
  ])('%j with %i: %s', (ports, port, expected) => {
    expect(includesPort(ports, port)).toBe(expected)
  })
})
