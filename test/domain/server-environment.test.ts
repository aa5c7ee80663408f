import { describe, expect, it } from 'vitest'
import { daemonEnvironment, serverEnvironment } from '../../src/domain/servers/environment.ts'
import { renderStartup } from '../../src/domain/servers/invocation.ts'
import { allocationRow, location, serverRow, variableRow } from './server-rows.ts'

const allocation = allocationRow(41, '203.0.113.9', 25565)

describe('the environment of a server', () => {
  const variables = [
    variableRow('JAR', { defaultValue: 'server.jar' }),
    variableRow('SEED', { defaultValue: '7' }),
    variableRow('MOTD', { defaultValue: 'Hello' }),
  ]
  const server = serverRow({ variables: { MOTD: 'Own', SEED: '', GONE: 'x' } })

  it('has own values, else defaults, and then what the panel sets', () => {
    expect(serverEnvironment({ server, variables, location })).toEqual({
      JAR: 'server.jar',
      SEED: '',
      MOTD: 'Own',
      STARTUP: 'java -jar {{SERVER_JARFILE}}',
      P_SERVER_LOCATION: 'ams',
      P_SERVER_UUID: server.uuid,
      P_SERVER_ALLOCATION_LIMIT: 3,
    })
  })

  it('keeps an unlimited allocation limit null', () => {
    const unlimited = serverRow({ allocationLimit: null })
    expect(
      serverEnvironment({ server: unlimited, variables: [], location }).P_SERVER_ALLOCATION_LIMIT,
    ).toBeNull()
  })

  it('lets the panel win over a variable of the same name', () => {
    const taken = [variableRow('STARTUP', { defaultValue: 'rm' }), variableRow('P_SERVER_UUID')]
    expect(serverEnvironment({ server, variables: taken, location })).toMatchObject({
      STARTUP: server.startup,
      P_SERVER_UUID: server.uuid,
    })
  })

  it('is text only for the daemon', () => {
    const unlimited = serverRow({ allocationLimit: null })
    expect(daemonEnvironment({ server, variables, location }).P_SERVER_ALLOCATION_LIMIT).toBe('3')
    expect(daemonEnvironment({ server: unlimited, variables, location }).P_SERVER_ALLOCATION_LIMIT).toBe('')
  })

  it('does not reach prototypes through names', () => {
    const odd = [
      variableRow('constructor', { defaultValue: 'd' }),
      variableRow('__proto__', { defaultValue: 'e' }),
    ]
    const environment = serverEnvironment({ server, variables: odd, location })
    expect(Object.getPrototypeOf(environment)).toBe(Object.prototype)
    expect(Object.entries(environment).slice(0, 2)).toEqual([
      ['constructor', 'd'],
      ['__proto__', 'e'],
    ])
  })
})

describe('the rendered startup command', () => {
  const variables = [
    variableRow('JAR', { defaultValue: 'server.jar' }),
    variableRow('TOKEN', { defaultValue: 'secret', userViewable: false }),
    variableRow('MOTD', { defaultValue: '{{TOKEN}}' }),
  ]
  const startup =
    'java -Xmx{{SERVER_MEMORY}}M -jar {{JAR}} -t {{TOKEN}} {{SERVER_IP}}:{{SERVER_PORT}} {{OTHER}} {{ JAR }}'
  const server = serverRow({ startup })

  it('has values filled in and hidden ones masked', () => {
    expect(renderStartup({ server, variables, allocation }, { hideVariables: false })).toBe(
      'java -Xmx4096M -jar server.jar -t [hidden] 203.0.113.9:25565 {{OTHER}} {{ JAR }}',
    )
  })

  it('masks every variable for those who may not see the startup', () => {
    expect(renderStartup({ server, variables, allocation }, { hideVariables: true })).toBe(
      'java -Xmx4096M -jar [hidden] -t [hidden] 203.0.113.9:25565 {{OTHER}} {{ JAR }}',
    )
  })

  it('never fills in what a value contains', () => {
    const own = serverRow({ startup: 'say {{MOTD}}' })
    expect(renderStartup({ server: own, variables, allocation }, { hideVariables: false })).toBe(
      'say {{TOKEN}}',
    )
  })

  it('takes values literally and cannot be told otherwise about the address', () => {
    const own = serverRow({
      startup: '{{JAR}} {{SERVER_PORT}}',
      variables: { JAR: '$& $1', SERVER_PORT: '1' },
    })
    const taken = [...variables, variableRow('SERVER_PORT')]
    expect(renderStartup({ server: own, variables: taken, allocation }, { hideVariables: false })).toBe(
      '$& $1 25565',
    )
  })
})
