import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { activityEvents } from '../../src/domain/activity/events.ts'
import { readRows } from './contract-files.ts'

const vocabulary = readRows('events.txt').map(([name = '']) => name)

describe('the events of the audit log', () => {
  it('have names that events.txt lists', () => {
    expect(Object.keys(activityEvents).filter((name) => !vocabulary.includes(name))).toEqual([])
  })

  it('are each named by a test of what records them', () => {
    const folder = join(import.meta.dirname, '..')
    const files = globSync('{application,browser,client,jobs,remote}/**/*.ts', { cwd: folder })
    const tests = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')
    expect(Object.keys(activityEvents).filter((name) => !tests.includes(`'${name}'`))).toEqual([])
  })

  it('have properties named as the wire names them, each once', () => {
    for (const [event, properties] of Object.entries<readonly string[]>(activityEvents)) {
      expect(
        properties.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name)),
        event,
      ).toEqual([])
      expect(new Set(properties).size, event).toBe(properties.length)
    }
  })

  it('are each in the vocabulary once', () => {
    expect(new Set(vocabulary).size).toBe(vocabulary.length)
    expect(
      vocabulary.filter((name) => !/^(server|user|auth|event|admin)[:.][a-z-]+(\.[a-z-]+)*$/.test(name)),
    ).toEqual([])
  })
})
