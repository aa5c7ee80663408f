import { eq } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { s3ObjectStore } from '../../../src/adapters/objects.ts'
import { backups } from '../../../src/db/schema.ts'
import { findPostgres } from '../../support/cloud-services.ts'
import { failures } from '../../support/tcp-proxy.ts'
import { expectWholeService } from './whole-service.ts'
import { away503, createFixtures, refusalOf, type Fixtures } from './fixtures.ts'
import { useDeployment } from './deployment.ts'

const hasPostgres = await findPostgres('a panel without its object store')
const success = { checksum: 'abc', checksum_type: 'sha1', size: 7, successful: true }
const failure = { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }

describe.skipIf(!hasPostgres)('an object store that is', () => {
  const deployment = useDeployment()
  let fixtures: Fixtures
  let store: ReturnType<typeof s3ObjectStore>
  beforeAll(async () => {
    store = s3ObjectStore(deployment.store.options)
  })
  beforeEach(async () => {
    fixtures = await createFixtures(deployment)
    await fixtures.set({ 'backups.default_disk': 's3', 'backups.throttle_limit': 0 })
    deployment.daemon.calls.length = 0
  })

  const at = (path = '') => `/servers/${fixtures.server.uuid}/backups${path}`
  const keyOf = ({ uuid }: { uuid: string }) => `${fixtures.server.uuid}/${uuid}.tar.gz`
  /** Makes a backup whose archive is in the store. */
  async function makeStored() {
    const backup = await fixtures.makeBackup({ disk: 's3' })
    await store.put(keyOf(backup), new Uint8Array(7), 'application/x-gzip')
    return backup
  }
  /** Makes a backup that a daemon is uploading; returns the parts of its report. */
  async function makeSending() {
    const backup = await fixtures.makeBackup({ disk: 's3', isSuccessful: false, completedAt: null })
    const { body } = await fixtures.remote('GET', `/backups/${backup.uuid}?size=7`)
    const sent = await fetch(body.parts[0], { method: 'PUT', body: new Uint8Array(7) })
    return { ...backup, parts: [{ etag: sent.headers.get('etag'), part_number: 1 }] }
  }

  it.each(failures)(
    '%s refuses what needs it with 503, and that changes nothing',
    { timeout: 60_000 },
    async (how, fail) => {
      const stored = await makeStored()
      const ordered = await fixtures.makeBackup({ disk: 's3', isSuccessful: false, completedAt: null })
      const sending = await makeSending()
      const finish = () =>
        fixtures.remote('POST', `/backups/${sending.uuid}`, { ...success, parts: sending.parts })
      const before = await deployment.rows()
      await fail(deployment.proxies.objects)
      const answers = await Promise.all([
        fixtures.player('POST', at(), {}),
        fixtures.player('GET', at(`/${stored.uuid}/download`)),
        fixtures.player('POST', at(`/${stored.uuid}/restore`), { truncate: true }),
        fixtures.remote('GET', `/backups/${ordered.uuid}?size=7`),
        // Parts are joined for as long as a daemon waits.
        ...(how === 'stopped' ? [finish()] : []),
        deployment.request('GET', `/avatars/${'0'.repeat(32)}.png`),
      ])
      expect(answers.map(refusalOf)).toEqual(answers.map(() => away503))
      expect(await deployment.rows()).toEqual(before)
      expect(refusalOf(await fixtures.player('DELETE', at(`/${stored.uuid}`)))).toEqual(away503)
      const { db } = deployment.services.database
      const [kept] = await db.select().from(backups).where(eq(backups.id, stored.id))
      expect(kept).toMatchObject({ isSuccessful: true, deletingAt: null })
      expect(deployment.daemon.calls).toEqual([])

      await deployment.proxies.objects.restore()
      expect((await finish()).status).toBe(204)
      const link = await fixtures.player('GET', at(`/${stored.uuid}/download`))
      expect((await fetch(link.body.attributes.url)).status).toBe(200)
      expect((await fixtures.player('DELETE', at(`/${stored.uuid}`))).status).toBe(204)
    },
  )

  it.each(failures)('%s stops nothing else', { timeout: 60_000 }, async (_how, fail) => {
    const stored = await makeStored()
    await fail(deployment.proxies.objects)
    await expectWholeService(deployment, fixtures)
    expect((await fixtures.player('GET', at())).status).toBe(200)
    expect((await fixtures.player('POST', at(`/${stored.uuid}/lock`))).status).toBe(200)
    await fixtures.set({ 'backups.default_disk': 'wings' })
    const onNode = await fixtures.player('POST', at(), {})
    expect(onNode.status).toBe(200)
    const path = at(`/${onNode.body.attributes.uuid}`)
    expect((await fixtures.player('DELETE', path)).status).toBe(204)
  })

  it.each(failures)(
    '%s has what was to be removed from it removed later',
    { timeout: 60_000 },
    async (_how, fail) => {
      const stored = await makeStored()
      const sending = await makeSending()
      await fail(deployment.proxies.objects)
      expect((await fixtures.remote('POST', `/backups/${sending.uuid}`, failure)).status).toBe(204)
      expect((await fixtures.administrator('DELETE', `/servers/${fixtures.server.id}/force`)).status).toBe(
        204,
      )
      await deployment.passTime()
      await deployment.proxies.objects.restore()
      expect(await store.multipart.head(keyOf(stored))).toEqual({ size: 7 })
      await deployment.passTime()
      expect(await store.multipart.head(keyOf(stored))).toBeNull()
      const { uploads } = await store.multipart.list(null)
      expect(uploads.filter(({ key }) => key === keyOf(sending))).toEqual([])
    },
  )

  it.each(failures)('%s is named by /health, until it is back', async (_how, fail) => {
    await fail(deployment.proxies.objects)
    expect(await deployment.health()).toMatchObject({
      status: 200,
      body: { status: 'degraded', parts: { objects: 'failed', database: 'ok', cache: 'ok', queue: 'ok' } },
    })
    await deployment.proxies.objects.restore()
    expect((await deployment.health()).body.parts.objects).toBe('ok')
  })
})
