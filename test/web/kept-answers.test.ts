import { describe, expect, it } from 'vitest'
import { isDueAgain, isKept, isPage } from '../../src/web/offline/kept-answers.ts'

const server = '/api/client/servers/1a2b3c4d'

describe('what a browser keeps for the time without the panel', () => {
  it.each([
    '/api/client',
    '/api/client/servers',
    '/api/client/servers/resources',
    '/api/client/permissions',
    '/api/client/account',
    server,
    `${server}/files/list`,
    `${server}/schedules/7`,
    `${server}/activity`,
  ])('has the answer of %s', (path) => expect(isKept(path)).toBe(true))

  it.each([
    '/api/client/account/api-keys',
    '/api/client/account/two-factor',
    '/api/client/account/email',
    '/account/security/sessions',
    '/api/application/users',
    `${server}/databases`,
    `${server}/startup`,
    `${server}/websocket`,
    `${server}/files/contents`,
    `${server}/files/download`,
    `${server}/files/upload`,
    `${server}/backups/8/download`,
    `${server}/console/snippets`,
  ])('never has that of %s', (path) => expect(isKept(path)).toBe(false))

  it('starts pages of players alone', () => {
    expect(['/', '/server/1a2b3c4d/files', '/account', '/account/api'].map(isPage)).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(
      ['/auth/login', '/account/security', '/admin', '/docs', '/health', '/api/client'].map(isPage),
    ).toEqual(Array.from({ length: 6 }, () => false))
  })

  it('copies what pages ask for all the time twice a minute', () => {
    expect([0, 29_999, 30_000].map((age) => isDueAgain(`${server}/resources`, age))).toEqual([
      false,
      false,
      true,
    ])
    expect(isDueAgain(`${server}/backups`, 0)).toBe(true)
  })
})
