import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createKeyedMutex } from '../../src/keyed-mutex.ts'

/** Creates work that records when it begins and ends, and ends when `finish` is called. */
function work(log: string[], name: string, fail = false) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const run = async () => {
    log.push(`${name} begins`)
    await promise
    log.push(`${name} ends`)
    if (fail) throw new Error(`${name} failed`)
    return name
  }
  return { run, finish: resolve }
}

describe('a keyed mutex', () => {
  it('runs work of one key in the order of the calls, and of another key beside it', async () => {
    const mutex = createKeyedMutex()
    const log: string[] = []
    const [first, second, other] = [work(log, 'first'), work(log, 'second'), work(log, 'other')]
    const results = [mutex.run('a', first.run), mutex.run('a', second.run), mutex.run('b', other.run)]
    await setImmediate()
    expect(log).toEqual(['first begins', 'other begins'])
    second.finish()
    first.finish()
    await results[1]
    other.finish()
    expect(await Promise.all(results)).toEqual(['first', 'second', 'other'])
    expect(log).toEqual([
      'first begins',
      'other begins',
      'first ends',
      'second begins',
      'second ends',
      'other ends',
    ])
  })

  it('hands a failure to its own caller and runs the next work all the same', async () => {
    const mutex = createKeyedMutex()
    const log: string[] = []
    const [failing, next] = [work(log, 'failing', true), work(log, 'next')]
    const results = [mutex.run('a', failing.run), mutex.run('a', next.run)]
    failing.finish()
    next.finish()
    await expect(results[0]).rejects.toThrow('failing failed')
    expect(await results[1]).toBe('next')
  })

  it('rejects when work throws before its first await', async () => {
    const mutex = createKeyedMutex()
    const thrown = mutex.run('a', () => {
      throw new Error('at once')
    })
    await expect(thrown).rejects.toThrow('at once')
    expect(await mutex.run('a', async () => 'next')).toBe('next')
  })
})
