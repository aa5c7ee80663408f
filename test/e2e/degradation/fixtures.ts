import { sql } from 'drizzle-orm'
import { single } from '../../../src/db/database.ts'
import { backups, schedules, settings, tasks } from '../../../src/db/schema.ts'
import {
  fullAcl,
  known,
  makeClientToken,
  makeKey,
  makeNode,
  makeServer,
  makeUser,
} from '../../support/factories.ts'
import type { Answer } from '../../support/answers.ts'
import type { Deployment } from './deployment.ts'

export type Fixtures = Awaited<ReturnType<typeof createFixtures>>

/** Creates a user with a server on the node behind the proxy and one on another node, and an administrator. */
export async function createFixtures(deployment: Deployment) {
  const { world, database } = deployment.services
  const { db } = database
  const owner = await makeUser(world, { passwordHash: known.passwordHash })
  const admin = await makeUser(world, { rootAdmin: true })
  const node = await makeNode(world, { daemonListen: deployment.proxies.daemon.port })
  const otherNode = await makeNode(world, { daemonListen: deployment.otherDaemon.port })
  const limits = { backupLimit: 3, databaseLimit: 2 }
  const server = await makeServer(world, { owner, node, ...limits })
  const otherServer = await makeServer(world, { owner, node: otherNode, ...limits })
  const token = await makeClientToken(world, owner)
  const adminToken = (await makeKey(world, admin, { type: 'application', acl: fullAcl })).token
  const player = (method: string, path: string, body?: unknown) =>
    deployment.request(method, `/api/client${path}`, { token, body })
  return {
    owner,
    node,
    server,
    otherServer,
    player,
    administrator: (method: string, path: string, body?: unknown) =>
      deployment.request(method, `/api/application${path}`, { token: adminToken, body }),
    remote: (method: string, path: string, body?: unknown) =>
      deployment.request(method, `/api/remote${path}`, { token: node.token, body }),
    /** Signs in with the password; the answer and the cookies of the session. */
    signIn: () => signIn(deployment, { user: owner.username, password: known.password }),
    makeBackup: async (values: Partial<typeof backups.$inferInsert> = {}) => {
      const now = new Date()
      const good = { isSuccessful: true, completedAt: now, createdAt: now }
      const row = { serverId: server.id, name: 'Nightly', disk: 'wings', ...good, ...values }
      return single(await db.insert(backups).values(row).returning())
    },
    /** Inserts a schedule with one task on a server. */
    makeSchedule: async ({ id: serverId }: { id: number }, action = 'command', payload = 'say hello') => {
      const times = { cronMinute: '0', cronHour: '0', cronDayOfMonth: '1', cronDayOfWeek: '*' }
      const row = { serverId, name: 'Once', ...times }
      const schedule = single(await db.insert(schedules).values(row).returning())
      const task = { scheduleId: schedule.id, sequenceId: 1, action, payload, timeOffset: 0 }
      await db.insert(tasks).values(task as typeof tasks.$inferInsert)
      return schedule
    },
    set: (values: Record<string, unknown>) =>
      db
        .insert(settings)
        .values(Object.entries(values).map(([key, value]) => ({ key, value })))
        .onConflictDoUpdate({ target: settings.key, set: { value: sql`excluded.value` } }),
  }
}

/** Signs in as browsers do: with the session of a guest first, then with a new one. */
async function signIn(deployment: Deployment, credentials: { user: string; password: string }) {
  const cookies = new Map<string, string>()
  const ask = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await deployment.request(method, path, {
      body,
      headers: {
        origin: deployment.origin,
        'user-agent': 'Test browser',
        cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
        'x-xsrf-token': cookies.get('XSRF-TOKEN') ?? '',
      },
    })
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=')
      cookies.set(name, value)
    }
    return answer
  }
  await ask('GET', '/sanctum/csrf-cookie')
  return { ask, answer: await ask('POST', '/auth/login', credentials) }
}

/** Summarises a refusal: status, code, whether it has Retry-After, and whether it discloses internals. */
export function refusalOf({ status, body, text, headers }: Answer) {
  const disclosesInternals =
    /\bat .*\.(ts|js):\d|node_modules|ECONN\w+ [\d[]|select |insert |127\.0\.0\.1/i.test(text)
  return {
    status,
    code: body?.errors?.[0]?.code,
    retryAfter: headers.get('retry-after') !== null,
    disclosesInternals,
  }
}
export const away503 = {
  status: 503,
  code: 'ServiceUnavailableHttpException',
  retryAfter: true,
  disclosesInternals: false,
}
