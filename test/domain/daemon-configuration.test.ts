import { describe, expect, it } from 'vitest'
import { daemonConfiguration, installScript } from '../../src/domain/servers/configuration.ts'
import { allocationRow, eggRow, serverRow, serverRows, variableRow } from './server-rows.ts'

const rows = serverRows({
  variables: [variableRow('SERVER_JARFILE', { defaultValue: 'server.jar' })],
  egg: eggRow({
    configFiles: { 'a.txt': { parser: 'file', find: { a: '{{env.SERVER_JARFILE}}' } } },
    configStartup: { done: 'ready' },
    configStop: '^C',
    fileDenylist: ['*.key'],
  }),
})

/** Lists the paths of a document that are null. */
function nulls(value: unknown, path = ''): string[] {
  if (value === null || value === undefined) return [path]
  if (typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, inner]) => nulls(inner, `${path}.${key}`))
}

function places(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]]
  return [[path, value], ...Object.entries(value).flatMap(([key, inner]) => places(inner, `${path}.${key}`))]
}

describe('what the daemon is told of a server', () => {
  it('is the whole document', () => {
    expect(daemonConfiguration(rows)).toEqual({
      uuid: '5b0f3c1e-2f7d-4a6e-9c3b-7d1e2f3a4b5c',
      settings: {
        id: 7,
        uuid: '5b0f3c1e-2f7d-4a6e-9c3b-7d1e2f3a4b5c',
        meta: { name: 'Skyblock', description: '' },
        suspended: false,
        environment: {
          SERVER_JARFILE: 'server.jar',
          STARTUP: 'java -jar {{SERVER_JARFILE}}',
          P_SERVER_LOCATION: 'ams',
          P_SERVER_UUID: '5b0f3c1e-2f7d-4a6e-9c3b-7d1e2f3a4b5c',
          P_SERVER_ALLOCATION_LIMIT: '3',
        },
        invocation: 'java -jar {{SERVER_JARFILE}}',
        skip_egg_scripts: false,
        build: {
          memory_limit: 4096,
          swap: 0,
          io_weight: 500,
          cpu_limit: 200,
          threads: null,
          disk_space: 20480,
          oom_disabled: true,
          oom_killer: false,
        },
        container: { image: 'ghcr.io/acme/java:21', oom_disabled: true, requires_rebuild: false },
        allocations: {
          force_outgoing_ip: false,
          default: { ip: '203.0.113.9', port: 25565 },
          mappings: { '203.0.113.9': [25565] },
        },
        mounts: [],
        egg: { id: '0c2f7a10-9b1d-4e55-8a3e-6f0d2b1c4e7a', file_denylist: ['*.key'] },
      },
      process_configuration: {
        startup: { done: ['ready'], user_interaction: [], strip_ansi: false },
        stop: { type: 'signal', value: 'SIGINT' },
        configs: [{ parser: 'file', file: 'a.txt', replace: [{ match: 'a', replace_with: 'server.jar' }] }],
      },
    })
  })

  it('has only one place that may be null, for every server', () => {
    const bare = serverRows({
      server: serverRow({ allocationLimit: null, databaseLimit: null, status: 'suspended', threads: '0-1' }),
    })
    for (const [each, expected] of [
      [rows, ['.settings.build.threads']],
      [serverRows(), ['.settings.build.threads']],
      [bare, []],
    ] as const) {
      expect(nulls(daemonConfiguration(each))).toEqual(expected)
    }
  })

  it('survives JSON with whole numbers, objects as objects and lists as lists', () => {
    const document: unknown = JSON.parse(JSON.stringify(daemonConfiguration(rows)))
    const found = new Map(places(document))
    for (const [path, value] of found) {
      if (typeof value === 'number') expect(Number.isInteger(value), path).toBe(true)
    }
    for (const path of [
      '.environment',
      '.meta',
      '.build',
      '.container',
      '.allocations',
      '.allocations.mappings',
    ]) {
      expect(Array.isArray(found.get(`.settings${path}`)), path).toBe(false)
    }
    for (const path of [
      '.settings.mounts',
      '.settings.egg.file_denylist',
      '.process_configuration.configs',
    ]) {
      expect(Array.isArray(found.get(path)), path).toBe(true)
    }
    const environment = found.get('.settings.environment') ?? {}
    for (const value of Object.values(environment)) expect(typeof value).toBe('string')
  })

  it('says suspended and outgoing address as booleans', () => {
    const { settings } = daemonConfiguration(
      serverRows({
        server: serverRow({ status: 'suspended', oomDisabled: false }),
        egg: eggRow({ forceOutgoingIp: true }),
      }),
    )
    expect(settings.suspended).toBe(true)
    expect(settings.allocations.force_outgoing_ip).toBe(true)
    expect(settings.build).toMatchObject({ oom_disabled: false, oom_killer: true })
  })

  it('cannot be made without the primary allocation', () => {
    const allocations = [allocationRow(1, '203.0.113.9', 1)]
    expect(() => daemonConfiguration(serverRows({ allocations }))).toThrow('was not loaded')
  })
})

describe('the install script', () => {
  it('is text even when the egg has none', () => {
    expect(installScript({ egg: eggRow(), copyScriptFrom: null })).toEqual({
      container_image: 'alpine:3.4',
      entrypoint: 'ash',
      script: '',
    })
  })

  it('comes from the egg whose script is copied', () => {
    const source = eggRow({ scriptInstall: 'echo', scriptEntry: 'bash', scriptContainer: 'debian:12' })
    expect(installScript({ egg: eggRow(), copyScriptFrom: source })).toEqual({
      container_image: 'debian:12',
      entrypoint: 'bash',
      script: 'echo',
    })
  })
})
