import { eq } from 'drizzle-orm'
import { single } from '../../src/db/database.ts'
import { identities, mountServer, passkeys, sessions, settings, sshKeys, users } from '../../src/db/schema.ts'
import { createSession, publicSessionId } from '../../src/domain/auth/sessions.ts'
import type { activityEvents } from '../../src/domain/activity/events.ts'
import type { Fixtures } from '../contract/fixtures.ts'
import { pterodactyl } from '../domain/egg-documents.ts'
import { makeKey, makeMount } from '../support/factories.ts'
import type { World } from '../support/world.ts'

/**
 * Routes that refuse keys (acting.test.ts has their event), record what the panel itself finds (heartbeats.test.ts), take a
 * file (appearance.test.ts, move-in.test.ts), or change nothing.
 */
export const recordedOtherwise = [
  'POST /users/:user/act',
  'POST /nodes/:node/heartbeat',
  'POST /settings/logo',
  'POST /nests/:nest/eggs/import/preview',
  'POST /move-in/dump',
  'POST /move-in/check',
  'POST /move-in/start',
  'DELETE /move-in',
]

/** What a request sends beside the fixtures. */
export type Preparation = { params?: Record<string, string>; body?: object; raw?: string }
export type Preparations = Record<string, (fixtures: Fixtures) => Promise<Preparation>>

/** The events of the routes of announcements. */
const announcementEvents: Record<string, keyof typeof activityEvents> = {
  'POST /announcements': 'admin:announcement.create',
  'PATCH /announcements/:announcement': 'admin:announcement.update',
  'DELETE /announcements/:announcement': 'admin:announcement.delete',
}

/** What these routes need so that they change something. */
const announcementPreparations: Preparations = {
  'POST /announcements': async () => ({ body: { title: 'Maintenance on Sunday' } }),
  'PATCH /announcements/:announcement': async () => ({ body: { title: 'Maintenance on Monday' } }),
}

/** The events of the routes of mounts. */
const mountEvents: Record<string, keyof typeof activityEvents> = {
  'POST /mounts': 'admin:mount.create',
  'PATCH /mounts/:mount': 'admin:mount.update',
  'DELETE /mounts/:mount': 'admin:mount.delete',
  'POST /servers/:server/mounts': 'admin:server.mount',
  'DELETE /servers/:server/mounts/:mount': 'admin:server.unmount',
}

/** What these routes need so that they change something. */
function mountPreparations(world: World): Preparations {
  const { db } = world.database
  return {
    'POST /mounts': async () => ({ body: { name: 'Maps', source: '/mnt/maps', target: '/maps' } }),
    'PATCH /mounts/:mount': async () => ({ body: { name: 'Renamed' } }),
    'POST /servers/:server/mounts': async ({ server }) => {
      await db.delete(mountServer)
      const mount = await makeMount(world, { eggs: [server.eggId], nodes: [server.nodeId] })
      return { body: { mount: mount.id } }
    },
  }
}

/** The events of the routes of announcements, of mounts, of roles, of how users sign in, of the set-up and of what settings can test. */
export const accountEvents: Record<string, keyof typeof activityEvents> = {
  ...announcementEvents,
  ...mountEvents,
  'POST /nodes/:node/configure-command': 'user:api-key.create',
  'POST /eggs/fetch': 'admin:egg.fetch',
  'POST /roles': 'admin:role.create',
  'PATCH /roles/:role': 'admin:role.update',
  'DELETE /roles/:role': 'admin:role.delete',
  'POST /settings/test/mail': 'admin:settings.test',
  'POST /settings/test/bucket': 'admin:settings.test',
  'POST /settings/test/oidc': 'admin:settings.test',
  'PATCH /setup': 'admin:setup.update',
  'DELETE /users/:user/sessions': 'user:session.delete',
  'DELETE /users/:user/sessions/:session': 'user:session.delete',
  'DELETE /users/:user/api-keys/:identifier': 'user:api-key.delete',
  'DELETE /users/:user/ssh-keys/:ssh_key': 'user:ssh-key.delete',
  'DELETE /users/:user/passkeys/:passkey': 'user:passkey.delete',
  'DELETE /users/:user/identities/:identity': 'user:identity.delete',
  'POST /users/:user/suspend': 'admin:user.suspend',
  'POST /users/:user/unsuspend': 'admin:user.unsuspend',
}

/** What these routes need so that they change something. */
export function accountPreparations(world: World): Preparations {
  const { db } = world.database
  const openSession = async ({ other }: Fixtures) => {
    await createSession(world.panel, other, { userAgent: 'Test browser', remember: false, previous: null })
    return {}
  }
  return {
    ...announcementPreparations,
    ...mountPreparations(world),
    'PATCH /roles/:role': async () => ({ body: { name: 'Renamed' } }),
    'PATCH /setup': async () => ({ body: { steps: { mail: 'skipped' } } }),
    'POST /settings/test/bucket': async () => {
      const multipart = { start: async () => Promise.reject(new Error('The bucket is away.')) }
      Object.assign(world.services, { objects: { ...world.services.objects, multipart } })
      return {}
    },
    'POST /eggs/fetch': async () => {
      const text = JSON.stringify(pterodactyl())
      Object.assign(world.services, { publicFetch: async ({ href }: URL) => ({ text, url: href }) })
      return { body: { url: 'https://eggs.example.com/egg.json' } }
    },
    'POST /settings/test/oidc': async () => {
      const values = { 'sign_in.oidc_issuer': 'https://127.0.0.1:1', 'sign_in.oidc_client_id': 'panel' }
      await db.insert(settings).values(Object.entries(values).map(([key, value]) => ({ key, value })))
      return {}
    },
    'DELETE /users/:user/sessions': openSession,
    'DELETE /users/:user/sessions/:session': async (fixtures) => {
      await openSession(fixtures)
      const [row] = await db.select().from(sessions).where(eq(sessions.userId, fixtures.other.id))
      return { params: { session: row ? publicSessionId(row) : '' } }
    },
    'DELETE /users/:user/api-keys/:identifier': async ({ other }) => {
      const { row } = await makeKey(world, other, { type: 'account' })
      await db.update(users).set({ apiKeyCount: 1 }).where(eq(users.id, other.id))
      return { params: { identifier: row.identifier } }
    },
    'DELETE /users/:user/ssh-keys/:ssh_key': async ({ other }) => {
      const key = { userId: other.id, name: 'Key', fingerprint: 'f'.repeat(43), publicKey: 'PEM' }
      const { id } = single(await db.insert(sshKeys).values(key).returning())
      return { params: { ssh_key: String(id) } }
    },
    'DELETE /users/:user/passkeys/:passkey': async ({ other }) => {
      const passkey = { userId: other.id, name: 'Laptop', credentialId: 'BBBB', publicKey: 'AAAA' }
      const { id } = single(await db.insert(passkeys).values(passkey).returning())
      return { params: { passkey: String(id) } }
    },
    'DELETE /users/:user/identities/:identity': async ({ other }) => {
      const account = {
        provider: 'oidc',
        issuer: 'https://a.test',
        subject: '2',
        displayName: 'mara',
      } as const
      const { id } = single(
        await db
          .insert(identities)
          .values({ ...account, userId: other.id })
          .returning(),
      )
      return { params: { identity: String(id) } }
    },
    'POST /users/:user/unsuspend': async ({ other }) => {
      await db.update(users).set({ signInSuspendedAt: world.clock.now }).where(eq(users.id, other.id))
      return {}
    },
  }
}
