import { eq } from 'drizzle-orm'
import { sessions } from '../../src/db/schema.ts'
import { createSession, csrfToken, newSessionToken, sessionId } from '../../src/domain/auth/sessions.ts'
import type { RouteRow } from '../../src/http/metadata.ts'
import type { RequestOptions, World } from '../support/world.ts'

type Attempt = { name: string; options: RequestOptions; status: number }

/** Lists the requests that foreign pages can make a browser send under a session; reads are allowed, because the page cannot see the response. */
export function forgeries(row: RouteRow, own: RequestOptions): Attempt[] {
  if (row.method === 'GET') return []
  const { origin, 'x-xsrf-token': proof, ...cookie } = own.headers ?? {}
  const forged: [string, Record<string, string | undefined>][] = [
    ['a foreign origin', { origin: 'https://evil.test', 'x-xsrf-token': proof }],
    ['no origin that may be told', { origin: 'null', 'x-xsrf-token': proof }],
    ['no origin', { 'x-xsrf-token': proof }],
    ['a page of the same site', { 'sec-fetch-site': 'same-site', 'x-xsrf-token': proof }],
    ['no proof', { origin }],
    ['a wrong proof', { origin, 'x-xsrf-token': 'x' }],
    ['the proof of another session', { origin, 'x-xsrf-token': csrfToken(newSessionToken()) }],
  ]
  return forged.map(([name, headers]) => ({
    name: `a session and ${name}`,
    options: { ...own, headers: { ...cookie, ...(headers as Record<string, string>) } },
    status: 419,
  }))
}

/** Makes tokens of ended sessions: expired, after a new password, deleted. */
export async function staleTokens(
  world: World,
  fixtures: { owner: { id: number; authVersion: number } },
): Promise<string[]> {
  const options = { userAgent: '', remember: false, previous: null }
  const { db } = world.database
  const expired = await createSession(world.panel, fixtures.owner, options)
  await db
    .update(sessions)
    .set({ expiresAt: world.clock.now })
    .where(eq(sessions.id, sessionId(expired.token)))
  const before = { ...fixtures.owner, authVersion: fixtures.owner.authVersion - 1 }
  const outdated = await createSession(world.panel, before, options)
  return [expired.token, outdated.token]
}
