import { describe, expect, it } from 'vitest'
import type { Egg } from '../../src/db/tables/eggs.ts'
import { daemonConfiguration, type ServerConfigurationRows } from '../../src/domain/servers/configuration.ts'
import { allocationRow, eggRow, serverRow, serverRows, variableRow } from './server-rows.ts'

type ConfigFiles = NonNullable<Egg['configFiles']>

function processOf(values: Partial<ServerConfigurationRows>) {
  return daemonConfiguration(serverRows(values)).process_configuration
}

/** Returns what the daemon writes for one template, with the given values of variables. */
function filled(template: unknown, variables: Record<string, string> = {}, server = {}): unknown {
  const configs = processOf({
    egg: eggRow({ configFiles: { 'a.txt': { parser: 'file', find: { key: template } } } }),
    server: serverRow({ variables, ...server }),
    variables: Object.keys(variables).map((name) => variableRow(name)),
  }).configs
  return configs[0]?.replace[0]?.replace_with
}

describe('configuration files', () => {
  it('are made as the daemon wants them', () => {
    const configFiles: ConfigFiles = {
      'server.properties': {
        parser: 'properties',
        find: {
          'server-port': '{{server.build.default.port}}',
          motd: { none: 'Hi', 'regex:^x': '{{env.MOTD}}' },
        },
      },
    }
    const egg = eggRow({ configFiles, configStartup: { done: 'Server ready' }, configStop: 'stop' })
    const server = serverRow({ variables: { MOTD: 'Welcome' } })
    expect(processOf({ egg, server, variables: [variableRow('MOTD')] })).toEqual({
      startup: { done: ['Server ready'], user_interaction: [], strip_ansi: false },
      stop: { type: 'command', value: 'stop' },
      configs: [
        {
          parser: 'properties',
          file: 'server.properties',
          replace: [
            { match: 'server-port', replace_with: '25565' },
            { match: 'motd', if_value: 'none', replace_with: 'Hi' },
            { match: 'motd', if_value: 'regex:^x', replace_with: 'Welcome' },
          ],
        },
      ],
    })
  })

  it('keep the order of the egg and extra keys, and skip what would kill the daemon', () => {
    const configFiles = {
      'z.txt': { parser: 'file', find: {}, create_file: true, note: null },
      'no-find.txt': { parser: 'file' },
      'null-find.txt': { parser: 'file', find: null },
      'no-parser.txt': { find: { a: 'b' } },
      'text.txt': 'x',
      'null.txt': null,
      'a.txt': { parser: 'yml', find: { a: 'b' } },
    } as unknown as ConfigFiles
    expect(processOf({ egg: eggRow({ configFiles }) }).configs).toEqual([
      { parser: 'file', create_file: true, file: 'z.txt', replace: [] },
      { parser: 'yml', file: 'a.txt', replace: [{ match: 'a', replace_with: 'b' }] },
    ])
  })

  it('keep numbers and booleans, turn null into nothing and leave out what no file can hold', () => {
    const find = { a: 1, b: true, c: null, d: [1], e: { x: [2], y: null, z: 3 } }
    const egg = eggRow({ configFiles: { 'a.json': { parser: 'json', find } } })
    expect(processOf({ egg }).configs[0]?.replace).toEqual([
      { match: 'a', replace_with: 1 },
      { match: 'b', replace_with: true },
      { match: 'c', replace_with: '' },
      { match: 'e', if_value: 'y', replace_with: '' },
      { match: 'e', if_value: 'z', replace_with: 3 },
    ])
  })

  it('come from the parent egg when the own are null', () => {
    const configFrom = eggRow({
      id: 1,
      configFiles: { 'p.txt': { parser: 'file', find: {} } },
      configStop: '^C',
    })
    const made = processOf({ configFrom })
    expect(made.configs.map((config) => config.file)).toEqual(['p.txt'])
    expect(made.stop).toEqual({ type: 'signal', value: 'SIGINT' })
  })
})

describe('placeholders', () => {
  const known: [template: string, text: string][] = [
    ['{{server.build.default.ip}}:{{server.build.default.port}}', '203.0.113.9:25565'],
    ['{{server.build.memory}}/{{server.build.swap}}/{{server.build.io}}', '4096/0/500'],
    ['{{server.build.cpu}}/{{server.build.disk}}/{{server.build.threads}}', '200/20480/'],
    ['{{server.build.image}}', 'ghcr.io/acme/java:21'],
    ['{{server.uuid}}', '5b0f3c1e-2f7d-4a6e-9c3b-7d1e2f3a4b5c'],
    ['{{server.service.egg}}', '0c2f7a10-9b1d-4e55-8a3e-6f0d2b1c4e7a'],
    ['{{server.suspended}} {{server.rebuild}}', '0 false'],
    ['{{server.build.env.MOTD}} {{env.MOTD}}', 'Hi Hi'],
    ['{{env.P_SERVER_LOCATION}} {{env.P_SERVER_ALLOCATION_LIMIT}}', 'ams 3'],
    ['{{server.build.env.SERVER_MEMORY}} {{env.SERVER_IP}} {{env.SERVER_PORT}}', '4096 203.0.113.9 25565'],
    ['{{server.allocations.default.ip}}:{{server.allocations.default.port}}', '203.0.113.9:25565'],
    ['{{server.build.memory_limit}} {{server.environment.MOTD}} {{server.meta.name}}', '4096 Hi Skyblock'],
    ['{{server.environment.SERVER_PORT}}', '25565'],
    ['{{server.missing.thing}}|{{env.MISSING}}|{{server.build}}|{{server.build.default.port.x}}', '|||'],
    ['{{server.constructor.name}}{{server.build.env.toString}}', ''],
    ['{{config.docker.network.interface}}', '{{config.docker.network.interface}}'],
    ['{{config.docker.interface}}', '{{config.docker.network.interface}}'],
    [
      '{{ server.uuid }} {{SERVER_PORT}} {{Server.uuid}}',
      '{{ server.uuid }} {{SERVER_PORT}} {{Server.uuid}}',
    ],
  ]
  for (const [template, text] of known) {
    it(`${template} becomes ${JSON.stringify(text)}`, () => {
      expect(filled(template, { MOTD: 'Hi' })).toBe(text)
    })
  }
})

describe('values of users', () => {
  /** What Wings reads as a placeholder of its own. */
  const expanded = /\{\{\s*config\.[\w.-]+\s*\}\}/
  const attacks: [template: string, variables: Record<string, string>][] = [
    ['{{env.A}}', { A: '{{config.token}}' }],
    ['{{env.A}}', { A: '{{ config.token }}' }],
    ['{{env.A}}', { A: '{{{{config.token}}}}' }],
    ['motd={{server.build.env.A}}!', { A: 'x {{config.api.host}} y' }],
    ['{{server.environment.A}}', { A: '{{config.token}}' }],
    ['{{{env.A}}}', { A: '{config.token}' }],
    ['{{env.A}}{{env.B}}', { A: '{', B: '{config.token}}' }],
    ['{{env.A}}{{env.B}}{{env.C}}', { A: '{{con', B: 'fig.to', C: 'ken}}' }],
    ['{{{{env.A}}}}', { A: 'config.token' }],
    ['{{config.{{env.A}}}}', { A: 'token' }],
    ['{{config.{{env.A}}', { A: 'token}}' }],
    ['{{env.A}}config.token}}', { A: '{{' }],
  ]
  for (const [template, variables] of attacks) {
    it(`cannot form a placeholder for the daemon: ${template} with ${JSON.stringify(variables)}`, () => {
      expect(filled(template, variables)).not.toMatch(expanded)
    })
  }

  it('cannot do so by the name of the server either', () => {
    const text = filled('{{server.meta.name}}', {}, { name: '{{config.token}}' })
    expect(text).toBe('{ {config.token}}')
  })

  it('leave the placeholders of the author alone', () => {
    const text = filled('{{config.docker.interface}} {{env.A}} {{config.api.host}}', { A: '{{x}}' })
    expect(text).toBe('{{config.docker.network.interface}} { {x}} {{config.api.host}}')
  })

  it('come through unchanged when they are harmless', () => {
    for (const value of ['{"a":{"b":1}}', '$1 \\0', 'a {b} c', '}}']) {
      expect(filled('{{env.A}}', { A: value })).toBe(value)
    }
  })

  it('are not filled in a second time', () => {
    expect(filled('{{env.A}}', { A: '{{env.B}}', B: 'secret' })).toBe('{ {env.B}}')
  })

  it('stay as they are in the environment', () => {
    const server = serverRow({ variables: { A: '{{config.token}}' } })
    const { settings } = daemonConfiguration(serverRows({ server, variables: [variableRow('A')] }))
    expect(settings.environment.A).toBe('{{config.token}}')
  })
})

describe('startup and stop', () => {
  const stops: [stop: string | null, type: string, value: string][] = [
    ['stop', 'command', 'stop'],
    ['/quit', 'command', '/quit'],
    ['^C', 'signal', 'SIGINT'],
    ['^^C', 'signal', 'SIGINT'],
    ['^c', 'signal', 'SIGINT'],
    ['^SIGTERM', 'signal', 'SIGTERM'],
    ['^sigkill', 'signal', 'SIGKILL'],
    ['^X', 'signal', 'X'],
    [null, 'stop', ''],
    ['', 'stop', ''],
  ]
  for (const [configStop, type, value] of stops) {
    it(`${JSON.stringify(configStop)} stops by ${type} ${value}`, () => {
      expect(processOf({ egg: eggRow({ configStop }) }).stop).toEqual({ type, value })
    })
  }

  it('has done texts as a list whatever the egg says', () => {
    const done = (configStartup: unknown) =>
      processOf({ egg: eggRow({ configStartup: configStartup as Egg['configStartup'] }) }).startup.done
    expect(done({ done: 'a' })).toEqual(['a'])
    expect(done({ done: ['a', 'regex:b'] })).toEqual(['a', 'regex:b'])
    expect(done({ done: [null, 'a', 5] })).toEqual(['a'])
    expect(done({ done: {} })).toEqual([])
    expect(done({ done: null })).toEqual([])
    expect(done({})).toEqual([])
    expect(done(null)).toEqual([])
  })

  it('strips colours only when the egg says so', () => {
    expect(processOf({ egg: eggRow({ configStartup: { strip_ansi: true } }) }).startup.strip_ansi).toBe(true)
    expect(processOf({}).startup.strip_ansi).toBe(false)
  })

  it('keeps all allocations of the primary address together', () => {
    const allocations = [
      allocationRow(40, '203.0.113.9', 25575),
      allocationRow(41, '203.0.113.9', 25565),
      allocationRow(42, '2001:db8::1', 25565),
      allocationRow(43, '203.0.113.9', 1, { nodeId: 99 }),
    ]
    expect(daemonConfiguration(serverRows({ allocations })).settings.allocations).toEqual({
      force_outgoing_ip: false,
      default: { ip: '203.0.113.9', port: 25565 },
      mappings: { '203.0.113.9': [25565, 25575], '2001:db8::1': [25565] },
    })
  })
})
