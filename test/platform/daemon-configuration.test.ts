import { describe, expect, it } from 'vitest'
import { configurationParsers } from '../../src/dev/daemon/configuration-parsers.ts'
import { createDoneMatcher, createLineReader } from '../../src/dev/daemon/console-output.ts'
import { buildEnvironment, expandInvocation } from '../../src/dev/daemon/environment.ts'
import {
  decodeServerConfiguration,
  type ConfigurationReplacement,
} from '../../src/dev/daemon/server-configuration.ts'
import { describeGameServer } from '../support/game-server.ts'

const uuid = '7d7d3d7c-52f6-4a05-8f57-7cf8c1d9b001'

function replacement(match: string, replaceWith: string, ifValue = ''): ConfigurationReplacement {
  return { match, replaceWith, ifValue, isBoolean: false }
}

function parse(parser: string, text: string, replacements: ConfigurationReplacement[]): string {
  return configurationParsers.get(parser)?.(text, replacements) ?? 'no such parser'
}

describe('configuration files', () => {
  it('of type file get whole lines replaced by their beginning', () => {
    expect(parse('file', 'port 1\nname a\n', [replacement('port', 'port 2')])).toBe('port 2\nname a\n')
  })

  it('of type properties keep comments, change existing keys and get missing ones', () => {
    const replacements = [replacement('port', '2'), replacement('motd', 'new'), replacement('mode', 'b', 'x')]
    expect(parse('properties', '# note\nport=1\nmode=a\n', replacements)).toBe(
      '# note\nport=2\nmode=a\nmotd=new\n',
    )
  })

  it('of type ini are changed within their section, where brackets protect dots', () => {
    const text = '[net]\nport = 1\n[a.b]\nport = 1\n'
    const replacements = [
      replacement('net.port', '2'),
      replacement('[a.b].port', '3'),
      replacement('new.key', '4'),
    ]
    expect(parse('ini', text, replacements)).toBe('[net]\nport = 2\n[a.b]\nport = 3\n[new]\nkey = 4\n')
  })

  it('of type json are changed by dotted paths, indexes and a wildcard, with numbers kept numbers', () => {
    const text = '{"a":{"x":{"ip":"1.1.1.1"},"y":{"ip":"2.2.2.2"}},"list":[{"host":"old"}]}'
    const replacements = [
      replacement('a.*.ip', '127.0.0.1', 'regex:^1\\..*$'),
      replacement('list[0].host', '0.0.0.0:25565'),
      replacement('query.port', '25565'),
    ]
    expect(JSON.parse(parse('json', text, replacements))).toEqual({
      a: { x: { ip: '127.0.0.1' }, y: { ip: '2.2.2.2' } },
      list: [{ host: '0.0.0.0:25565' }],
      query: { port: 25565 },
    })
  })
})

describe('the configuration of a server', () => {
  const valid = describeGameServer(uuid)
  const { settings } = valid

  it.each([
    ['settings', { settings: null }],
    ['process_configuration', { process_configuration: null }],
    ['settings.environment', { settings: { ...settings, environment: [] } }],
    ['settings.labels', { settings: { ...settings, labels: [] } }],
    ['settings.allocations.mappings', { settings: { ...settings, allocations: { mappings: [] } } }],
    [
      'settings.allocations.default.port',
      { settings: { ...settings, allocations: { default: { port: '1' } } } },
    ],
    ['settings.build.memory_limit', { settings: { ...settings, build: { memory_limit: 512.5 } } }],
    ['settings.build.threads', { settings: { ...settings, build: { threads: 4 } } }],
    ['startup.done', { process_configuration: { startup: { done: 'text' } } }],
    ['startup.done[0]', { process_configuration: { startup: { done: [null] } } }],
    ['stop', { process_configuration: { stop: '^C' } }],
    ['configs', { process_configuration: { configs: {} } }],
    ['configs[0].replace', { process_configuration: { configs: [{ file: 'a', parser: 'file' }] } }],
  ])('is refused for a wrong %s', (field, change) => {
    expect(() => decodeServerConfiguration({ ...valid, ...change })).toThrow(field)
  })

  it('is accepted with nulls where Wings has defaults', () => {
    const decoded = decodeServerConfiguration({
      settings: { uuid, environment: null, allocations: null, build: null, mounts: null, labels: null },
      process_configuration: { startup: null, stop: null, configs: null },
    })
    expect(decoded).toMatchObject({
      suspended: false,
      done: [],
      stop: { type: '', value: '' },
      crashDetection: true,
    })
  })
})

describe('the environment of a server', () => {
  it('has five fixed variables and the panel’s with upper-cased names and Go’s number format', () => {
    const environment = { server_port: '1', greeting: 'hi', LIMIT: 5, NONE: null }
    const configuration = decodeServerConfiguration(describeGameServer(uuid, { environment }))
    expect(buildEnvironment(configuration)).toMatchObject({
      SERVER_MEMORY: '512',
      SERVER_IP: '127.0.0.1',
      SERVER_PORT: '25565',
      STARTUP: 'node server.mjs --motd "{{MOTD}}"',
      GREETING: 'hi',
      LIMIT: '5.000000',
      NONE: '',
    })
    expect(buildEnvironment(configuration)).not.toHaveProperty('server_port')
  })

  it('fills the placeholders of the invocation', () => {
    const configuration = decodeServerConfiguration(describeGameServer(uuid))
    expect(expandInvocation(configuration, '/srv')).toBe('node server.mjs --motd "Hello"')
  })
})

describe('console output', () => {
  it('is split into lines across chunks and cut at 64 KiB', () => {
    const lines: string[] = []
    const reader = createLineReader((line) => lines.push(line))
    reader.write('one\r\ntw')
    reader.write(`o\n${'x'.repeat(70_000)}`)
    reader.write('yyy\nlast')
    reader.end()
    expect(lines.map((line) => line.slice(0, 4))).toEqual(['one', 'two', 'xxxx', 'last'])
    expect(lines[2]).toBe('x'.repeat(65_536))
  })

  it('means "started" by a substring, a pattern, or the text of an invalid pattern', () => {
    const isDone = createDoneMatcher(['ready', 'regex:^Up in \\d+s', 'regex:('], false)
    expect(['is ready now', 'Up in 3s', 'a regex:( b', 'not yet'].map(isDone)).toEqual([
      true,
      true,
      true,
      false,
    ])
    expect(createDoneMatcher(['Server ready'], true)('Server \u001b[32mready')).toBe(true)
  })
})
