import { describe, expect, it } from 'vitest'
import {
  hashPassword,
  maxPasswordChecks,
  verifyPassword,
  withPasswordCheck,
} from '../../src/domain/auth/password-hash.ts'
import { measureHashes } from '../support/measure-hashes.ts'

const cheap = { N: 1024, r: 8, p: 1 }

describe('hashes of passwords', () => {
  it('differ each time and fit their own password only', async () => {
    const [one, other] = await Promise.all(
      ['horse', 'horse'].map((password) => hashPassword(password, cheap)),
    )
    expect(one).not.toBe(other)
    expect(await verifyPassword('horse', one ?? '')).toBe(true)
    expect(await verifyPassword('Horse', one ?? '')).toBe(false)
  })

  it('AU-14: carry their parameters', async () => {
    const stored = 'scrypt$1024$8$1$AAAAAAAAAAAAAAAAAAAAAA$4LFzhcmdiN8-mIxXQMRb7t78vEcjLC52eAQGe0eG8Pw'
    expect(await verifyPassword('horse', stored)).toBe(true)
    expect(await hashPassword('horse')).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/)
  })

  it('of no account and of another kind fit no password', async () => {
    for (const stored of [null, '', '$2y$10$abcdefghijklmnopqrstuv', 'scrypt$16384$8$5$AAAA$-'])
      expect(await verifyPassword('', stored, cheap)).toBe(false)
  })

  it('AU-14: are worked on two at a time when there are many', async () => {
    const stored = await hashPassword('horse', cheap)
    const passwords = Array.from({ length: 12 }, (_, at) => (at % 2 ? 'horse' : 'cow'))
    let answers: boolean[] = []
    const work = await measureHashes(async () => {
      answers = await Promise.all(passwords.map((password) => verifyPassword(password, stored)))
    })
    expect(answers).toEqual(passwords.map((password) => password === 'horse'))
    expect(work).toEqual({ hashes: 12, maxConcurrent: 2 })
  })

  it('AU-14: are refused with 503 while too many are in progress, and taken again afterwards', async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    const waiting = Array.from({ length: maxPasswordChecks }, () => withPasswordCheck(() => opened))
    let hasRun = false
    const refused = withPasswordCheck(async () => void (hasRun = true))
    await expect(refused).rejects.toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    expect(hasRun).toBe(false)
    open()
    await Promise.all(waiting)
    // What fails gives its place back, too.
    for (let at = 0; at <= maxPasswordChecks; at += 1)
      await expect(withPasswordCheck(() => Promise.reject(new Error('wrong')))).rejects.toThrow('wrong')
    expect(await withPasswordCheck(async () => 'taken')).toBe('taken')
  })

  it('AU-1: of no account take as much work as those of an account', async () => {
    const hashesFor = async (stored: string | null) =>
      (await measureHashes(() => verifyPassword('horse', stored, cheap))).hashes
    expect([await hashesFor(await hashPassword('horse', cheap)), await hashesFor(null)]).toEqual([1, 1])
  })
})
