import { describe, expect, it } from 'vitest'
import { resolveInheritedEgg } from '../../src/domain/eggs/inheritance.ts'
import { eggRow } from './server-rows.ts'

describe('the effective egg', () => {
  const parent = eggRow({
    id: 1,
    features: ['eula'],
    fileDenylist: ['parent.key'],
    configFiles: { 'a.txt': { parser: 'file', find: {} } },
    configStartup: { done: 'parent' },
    configLogs: { custom: true },
    configStop: 'parent-stop',
    scriptInstall: 'parent script',
    scriptEntry: 'bash',
    scriptContainer: 'debian:12',
  })

  it('is the egg itself without relatives', () => {
    const egg = eggRow({ configStop: 'stop', fileDenylist: ['own.key'], scriptInstall: 'own' })
    expect(resolveInheritedEgg(egg, null, null)).toEqual(egg)
  })

  it('takes what is null from the parent', () => {
    const egg = resolveInheritedEgg(eggRow({ id: 2 }), parent, null)
    expect(egg).toMatchObject({
      id: 2,
      features: ['eula'],
      configFiles: parent.configFiles,
      configStartup: { done: 'parent' },
      configLogs: { custom: true },
      configStop: 'parent-stop',
    })
    expect(egg.scriptInstall).toBeNull()
  })

  it('keeps what it has itself, also when that is empty', () => {
    const own = eggRow({
      features: [],
      configFiles: {},
      configStartup: { done: 'own' },
      configLogs: {},
      configStop: '',
    })
    expect(resolveInheritedEgg(own, parent, null)).toMatchObject({
      features: [],
      configFiles: {},
      configStartup: { done: 'own' },
      configLogs: {},
      configStop: '',
    })
  })

  it('always has the denylist of its parent', () => {
    expect(resolveInheritedEgg(eggRow({ fileDenylist: ['own.key'] }), parent, null).fileDenylist).toEqual([
      'parent.key',
    ])
  })

  it('copies script, entry and container together, and only when it has no script', () => {
    expect(resolveInheritedEgg(eggRow(), null, parent)).toMatchObject({
      scriptInstall: 'parent script',
      scriptEntry: 'bash',
      scriptContainer: 'debian:12',
    })
    expect(resolveInheritedEgg(eggRow({ scriptInstall: '' }), null, parent).scriptInstall).toBe(
      'parent script',
    )
    expect(resolveInheritedEgg(eggRow({ scriptInstall: 'own' }), null, parent)).toMatchObject({
      scriptInstall: 'own',
      scriptEntry: 'ash',
      scriptContainer: 'alpine:3.4',
    })
  })
})
