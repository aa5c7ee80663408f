import { describe, expect, it } from 'vitest'
import { daemonConfiguration, type ServerConfigurationRows } from '../../src/domain/servers/configuration.ts'
import { jsonBytes } from '../../src/http/json-bytes.ts'
import { writeConfiguration } from '../../src/surfaces/remote/resources/configuration-text.ts'
import { allocationRow, eggRow, serverRow, serverRows, variableRow } from './server-rows.ts'

function write(rows: ServerConfigurationRows): string {
  const bytes = jsonBytes(100)
  writeConfiguration(bytes, rows)
  return new TextDecoder().decode(bytes.finish())
}

const text = 'ü "{{env.A}}" \\ \n\u2028{{config.docker.interface}}'
const variables = ['A', '7', 'STARTUP', 'constructor', '__proto__', 'P_SERVER_UUID', 'B'].map((name) =>
  variableRow(name, { defaultValue: `default ${name} ${text}` }),
)
const find = {
  one: '{{server.build.default.port}}',
  two: '{{env.A}} {{env.B}} {{server.build.env.A}} {{server.environment.STARTUP}} {{env.SERVER_IP}}',
  three: { '^a$': '{{server.build.memory_limit}} {{server.uuid}} {{server.none}} {{none}}', b: 3, c: true },
  four: text,
  five: [text],
}
const egg = eggRow({
  configFiles: {
    'a.properties': { parser: 'properties', find },
    [text]: { parser: 'file', replace: 'own', create: true, find: { x: null } } as never,
    broken: { find },
  },
  configStartup: { done: ['ready', text], strip_ansi: true },
  configStop: text,
  fileDenylist: [text, '*.key'],
  forceOutgoingIp: true,
})
const ports = [
  allocationRow(41, '203.0.113.9', 25565),
  allocationRow(42, '203.0.113.9', 25566),
  allocationRow(43, '2001:db8::1', 25566),
  allocationRow(44, '203.0.113.9', 1, { nodeId: 9 }),
]
const mounts = [{ source: `/srv/${text}`, target: '/mnt', readOnly: true }]
const odd = { name: text, description: text, startup: text, image: text, threads: '0-1,3' }

const servers: [name: string, rows: Partial<ServerConfigurationRows>][] = [
  ['nothing but defaults', {}],
  ['an egg with everything', { egg, variables, allocations: ports, mounts }],
  [
    'values of its own',
    { egg, variables, server: serverRow({ variables: { 7: 'seven', A: text, B: '', GONE: 'x' } }) },
  ],
  ['an empty environment', { egg, server: serverRow({ variables: { A: 'x' } }) }],
  ['odd texts', { server: serverRow({ ...odd, status: 'suspended', allocationLimit: null }) }],
  ['an egg that inherits', { egg: eggRow(), configFrom: egg, variables }],
  ['the local runtime', { egg: eggRow({ features: ['local_runtime'], configStop: '^C' }) }],
  ['flags', { server: serverRow({ skipScripts: true, oomDisabled: false, swap: -1 }) }],
]

describe('the configuration of a server as text', () => {
  it.each(servers)('is that of its objects: %s', (_name, values) => {
    const rows = serverRows(values)
    expect(write(rows)).toBe(JSON.stringify(daemonConfiguration(rows)))
  })

  it('shares what eggs have in common, and nothing else', () => {
    const first = serverRows({ egg, variables, server: serverRow({ variables: { A: 'first' } }) })
    const second = serverRows({ egg, variables, server: serverRow({ id: 8, variables: { A: 'second' } }) })
    for (const rows of [first, second, first])
      expect(write(rows)).toBe(JSON.stringify(daemonConfiguration(rows)))
  })

  it('cannot be made without the primary allocation', () => {
    const allocations = [allocationRow(1, '203.0.113.9', 1)]
    expect(() => write(serverRows({ allocations }))).toThrow('was not loaded')
  })
})
