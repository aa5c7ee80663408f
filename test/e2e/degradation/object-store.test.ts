import { eq } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { s3ObjectStore } from '../../../src/adapters/objects.ts'
import { backups } from '../../../src/db/schema.ts'
import { findPostgres } from '../../support/cloud-services.ts'
import { failures } from '../../support/line.ts'
import { expectWholeService } from './round.ts'
import { away503, openScene, refusalOf, type Scene } from './scene.ts'
import { useSite } from './site.ts'

const hasPostgres = await findPostgres('a panel without its object store')
const success = { checksum: 'abc', checksum_type: 'sha1', size: 7, successful: true }
const failure = { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }

describe.skipIf(!hasPostgres)('an object store that is', () => {
  const site = useSite()
  let scene: Scene
  let store: ReturnType<typeof s3ObjectStore>
  beforeAll(async () => {
    store = s3ObjectStore(site.store.options)
  })
  beforeEach(async () => {
    scene = await openScene(site)
    await scene.set({ 'backups.default_disk': 's3', 'backups.throttle_limit': 0 })
    site.daemon.calls.length = 0
  })

  const at = (path = '') => `/servers/${scene.server.uuid}/backups${path}`
  const keyOf = ({ uuid }: { uuid: string }) => `${scene.server.uuid}/${uuid}.tar.gz`
  /** A backup whose archive is in the store. */
  async function makeStored() {
    const backup = await scene.makeBackup({ disk: 's3' })
    await store.put(keyOf(backup), new Uint8Array(7), 'application/x-gzip')
    return backup
  }
  /** A backup that a daemon is sending; the parts of its report. */
  async function makeSending() {
    const backup = await scene.makeBackup({ disk: 's3', isSuccessful: false, completedAt: null })
    const { body } = await scene.remote('GET', `/backups/${backup.uuid}?size=7`)
    const sent = await fetch(body.parts[0], { method: 'PUT', body: new Uint8Array(7) })
    return { ...backup, parts: [{ etag: sent.headers.get('etag'), part_number: 1 }] }
  }

  it.each(failures)(
    '%s refuses what needs it with 503, and that changes nothing',
    { timeout: 60_000 },
    async (how, fail) => {
      const stored = await makeStored()
      const ordered = await scene.makeBackup({ disk: 's3', isSuccessful: false, completedAt: null })
      const sending = await makeSending()
      const finish = () =>
        scene.remote('POST', `/backups/${sending.uuid}`, { ...success, parts: sending.parts })
      const before = await site.rows()
      await fail(site.lines.objects)
      const answers = await Promise.all([
        scene.player('POST', at(), {}),
        scene.player('GET', at(`/${stored.uuid}/download`)),
        scene.player('POST', at(`/${stored.uuid}/restore`), { truncate: true }),
        scene.remote('GET', `/backups/${ordered.uuid}?size=7`),
        // Parts are joined for as long as a daemon waits.
        ...(how === 'stopped' ? [finish()] : []),
        site.request('GET', `/avatars/${'0'.repeat(32)}.png`),
      ])
      expect(answers.map(refusalOf)).toEqual(answers.map(() => away503))
      expect(await site.rows()).toEqual(before)
      expect(refusalOf(await scene.player('DELETE', at(`/${stored.uuid}`)))).toEqual(away503)
      const { db } = site.services.database
      const [kept] = await db.select().from(backups).where(eq(backups.id, stored.id))
      expect(kept).toMatchObject({ isSuccessful: true, deletingAt: null })
      expect(site.daemon.calls).toEqual([])

      await site.lines.objects.mend()
      expect((await finish()).status).toBe(204)
      const link = await scene.player('GET', at(`/${stored.uuid}/download`))
      expect((await fetch(link.body.attributes.url)).status).toBe(200)
      expect((await scene.player('DELETE', at(`/${stored.uuid}`))).status).toBe(204)
    },
  )

  it.each(failures)('%s stops nothing else', { timeout: 60_000 }, async (_how, fail) => {
    const stored = await makeStored()
    await fail(site.lines.objects)
    await expectWholeService(site, scene)
    expect((await scene.player('GET', at())).status).toBe(200)
    expect((await scene.player('POST', at(`/${stored.uuid}/lock`))).status).toBe(200)
    await scene.set({ 'backups.default_disk': 'wings' })
    const onNode = await scene.player('POST', at(), {})
    expect(onNode.status).toBe(200)
    const path = at(`/${onNode.body.attributes.uuid}`)
    expect((await scene.player('DELETE', path)).status).toBe(204)
  })

  it.each(failures)(
    '%s has what was to be removed from it removed later',
    { timeout: 60_000 },
    async (_how, fail) => {
      const stored = await makeStored()
      const sending = await makeSending()
      await fail(site.lines.objects)
      expect((await scene.remote('POST', `/backups/${sending.uuid}`, failure)).status).toBe(204)
      expect((await scene.administrator('DELETE', `/servers/${scene.server.id}/force`)).status).toBe(204)
      await site.passTime()
      await site.lines.objects.mend()
      expect(await store.multipart.head(keyOf(stored))).toEqual({ size: 7 })
      await site.passTime()
      expect(await store.multipart.head(keyOf(stored))).toBeNull()
      const { uploads } = await store.multipart.list(null)
      expect(uploads.filter(({ key }) => key === keyOf(sending))).toEqual([])
    },
  )

  it.each(failures)('%s is named by /health, until it is back', async (_how, fail) => {
    await fail(site.lines.objects)
    expect(await site.health()).toMatchObject({
      status: 200,
      body: { status: 'degraded', parts: { objects: 'failed', database: 'ok', cache: 'ok', queue: 'ok' } },
    })
    await site.lines.objects.mend()
    expect((await site.health()).body.parts.objects).toBe('ok')
  })
})
