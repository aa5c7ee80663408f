import { createHash, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/processes.ts'
import { expectStatus, type Fixtures } from './fixtures.ts'

/** Two parts of the minimum size of a store, the last one shorter. */
const world = randomBytes(7 * 1024 * 1024)
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Defines the tests of backups in the object store, whose parts the daemon uploads itself. */
export function backupsOn(at: () => Fixtures): void {
  const backup = async (uuid: string) =>
    expectStatus(await at().asOwner('GET', `/backups/${uuid}`), 200).attributes
  const status = async () => expectStatus(await at().asOwner('GET', ''), 200).attributes.status
  const file = () => join(at().folder, 'world.bin')

  describe('a backup in the object store', () => {
    let uuid: string

    it('is sent there in parts by signed links, and downloaded by one', async () => {
      const { asAdmin, asOwner, store } = at()
      const backups = { default_disk: 's3', part_size_mib: 5, throttle_limit: 0 }
      expectStatus(await asAdmin('PATCH', '/settings', { json: { backups } }), 200)
      await writeFile(file(), world)
      const ignored = ['*.dat', '*.mca', '*.txt', '*.tar.gz'].join('\n')
      const made = await asOwner('POST', '/backups', { json: { name: 'Vor dem Umbau', ignored } })
      uuid = expectStatus(made, 200).attributes.uuid
      await eventually(async () => (await backup(uuid)).completed_at !== null, 30)
      const { is_successful: isSuccessful, bytes, checksum } = await backup(uuid)
      expect(isSuccessful).toBe(true)
      const parts = store.requests.filter((line) => /^PUT .*[?&]partNumber=\d/.test(line))
      expect(parts).toHaveLength(2)
      expect(parts.every((line) => line.includes('X-Amz-Signature='))).toBe(true)
      const link = expectStatus(await asOwner('GET', `/backups/${uuid}/download`), 200).attributes.url
      expect(new URL(link).origin).toBe(store.options.endpoint)
      const archive = await (await fetch(link)).bytes()
      expect(archive.byteLength).toBe(bytes)
      expect(`sha1:${createHash('sha1').update(archive).digest('hex')}`).toBe(checksum)
      const forged = await fetch(link.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')))
      expect(forged.status).toBe(403)
    })

    it('comes back byte by byte', async () => {
      const { asOwner } = at()
      await writeFile(file(), 'something else')
      expectStatus(await asOwner('POST', `/backups/${uuid}/restore`, { json: { truncate: false } }), 204)
      await eventually(async () => (await status()) === null, 30)
      expect(digest(await readFile(file()))).toBe(digest(world))
    })

    it('is removed, there too', async () => {
      const { asOwner } = at()
      const link = expectStatus(await asOwner('GET', `/backups/${uuid}/download`), 200).attributes.url
      expectStatus(await asOwner('DELETE', `/backups/${uuid}`), 204)
      expectStatus(await asOwner('GET', `/backups/${uuid}`), 404)
      await eventually(async () => (await fetch(link)).status === 404)
    })
  })
}
