import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { resolveGameHost } from '../../src/domain/games/address.ts'
import { detectGame } from '../../src/domain/games/protocols.ts'

const egg = (hints: Partial<Parameters<typeof detectGame>[0]>) => ({
  queryGame: null,
  features: null,
  name: 'Mystery',
  startup: './start',
  ...hints,
})

describe('the game of an egg', () => {
  it('is what the administrator says, whatever it looks like', () => {
    expect(detectGame(egg({ queryGame: 'rust', name: 'Paper', features: ['eula'] }))).toBe('rust')
  })

  it('is guessed by features, names and commands, or not at all', () => {
    expect(detectGame(egg({ features: ['eula'] }))).toBe('minecraft')
    expect(detectGame(egg({ name: 'Velocity' }))).toBe('minecraft')
    expect(detectGame(egg({ startup: './bedrock_server', features: ['eula'] }))).toBe('mbe')
    expect(detectGame(egg({ startup: './RustDedicated -batchmode' }))).toBe('rust')
    expect(detectGame(egg({ name: 'Rust web server' }))).toBeNull()
    expect(detectGame(egg({}))).toBeNull()
  })

  it('is known of the games among the eggs that come with the panel', () => {
    const folder = new URL('../../drizzle/eggs/', import.meta.url)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('/'),
    )
    const games = files.map((name) => {
      const { name: title, features, startup } = JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
      return [title, detectGame({ queryGame: null, features, name: title, startup })]
    })
    expect(Object.fromEntries(games)).toEqual({
      Demo: null,
      'Node.js': null,
      Bedrock: 'mbe',
      Paper: 'minecraft',
      'Vanilla Minecraft': 'minecraft',
      Velocity: 'minecraft',
      Factorio: null,
      Terraria: null,
      'Counter-Strike 2': 'counterstrike2',
      'Generic SteamCMD': null,
      Rust: 'rust',
      Valheim: 'valheim',
    })
  })
})

describe('the host of a game', () => {
  const node = (fqdn: string, queryAddress: string | null = null) => ({ fqdn, queryAddress })
  const at = (ip: string, ipAlias: string | null = null) => ({ ip, ipAlias })

  it('is where the administrator says', () => {
    expect(resolveGameHost(node('n.example.test', 'q.example.test'), at('203.0.113.4'))).toBe(
      'q.example.test',
    )
    expect(resolveGameHost(node('n.example.test', '[2001:db8::1]'), at('8.8.8.8'))).toBe('2001:db8::1')
  })

  it('is the address of the allocation where that is public', () => {
    expect(resolveGameHost(node('n.example.test'), at('8.8.8.8', 'play.example.test'))).toBe('8.8.8.8')
    expect(resolveGameHost(node('n.example.test'), at('2606:4700::1111'))).toBe('2606:4700::1111')
  })

  it('is the alias or the name of the node where only the node knows the address', () => {
    for (const ip of ['0.0.0.0', '::', '10.0.0.5', '192.168.1.9', '172.16.0.1', '127.0.0.1', 'fd00::5']) {
      expect(resolveGameHost(node('n.example.test'), at(ip)), ip).toBe('n.example.test')
      expect(resolveGameHost(node('8.8.8.8'), at(ip)), ip).toBe('8.8.8.8')
      expect(resolveGameHost(node('n.example.test'), at(ip, 'play.example.test')), ip).toBe(
        'play.example.test',
      )
      expect(resolveGameHost(node('n.example.test'), at(ip, 'Lobby (old)')), ip).toBe('n.example.test')
    }
  })

  it('is a private address where everything is', () => {
    expect(resolveGameHost(node('10.0.0.1'), at('10.0.0.5'))).toBe('10.0.0.5')
    expect(resolveGameHost(node('10.0.0.1'), at('0.0.0.0'))).toBe('10.0.0.1')
  })
})
