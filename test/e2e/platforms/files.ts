import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectStatus, type Fixtures } from './fixtures.ts'

const mebibyte = 1024 * 1024
/** Larger than any request to a function, and not compressible. */
const world = randomBytes(20 * mebibyte)
/** Every byte, also NUL and invalid UTF-8. */
const everyByte = Buffer.from([...Array(256).keys(), 0xff, 0xfe, 0x00, 0xc3, 0x28])
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const octets = { 'content-type': 'application/octet-stream' }
const asText = { 'content-type': 'text/plain' }

/** Defines the tests of files: through the panel byte by byte, and large ones directly to the daemon. */
export function filesOn(at: () => Fixtures): void {
  const write = (path: string, body: string | Uint8Array, headers: Record<string, string>) =>
    at().asOwner('POST', `/files/write?file=${encodeURIComponent(path)}`, { body, headers })
  const read = (path: string) => at().asOwner('GET', `/files/contents?file=${encodeURIComponent(path)}`)
  const onDisk = (path: string) => readFile(join(at().folder, path))
  const namesIn = async (directory: string) => {
    const list = await at().asOwner('GET', `/files/list?directory=${encodeURIComponent(directory)}`)
    return expectStatus(list, 200).data.map(({ attributes }: any) => attributes.name)
  }

  describe('files', () => {
    it('are written, listed and read, whatever script their names and texts are in', async () => {
      const text = '{ "motd": "Grüße, 東京 🏔\\n" }\r\n\n'
      expectStatus(await write('/Märkte & 東京/a+b #1%.json', text, asText), 204)
      expect(await namesIn('/Märkte & 東京')).toEqual(['a+b #1%.json'])
      const answer = await read('/Märkte & 東京/a+b #1%.json')
      expect([answer.status, answer.text]).toEqual([200, text])
      expect(answer.headers.get('content-type')?.toLowerCase()).toBe('text/plain; charset=utf-8')
      expect(answer.headers.get('content-security-policy')).toContain('sandbox')
    })

    it('keep every byte in both directions', async () => {
      expectStatus(await write('/bytes.dat', everyByte, octets), 204)
      expect(digest(await onDisk('bytes.dat'))).toBe(digest(everyByte))
      const answer = await read('/bytes.dat')
      expect([answer.status, digest(answer.bytes)]).toEqual([200, digest(everyByte)])
    })

    it('may be empty, and as large as the editor takes them', async () => {
      const large = randomBytes(4 * mebibyte)
      expectStatus(await write('/empty.txt', '', asText), 204)
      expect((await read('/empty.txt')).bytes).toHaveLength(0)
      expectStatus(await write('/large.dat', large, octets), 204)
      expect(digest((await read('/large.dat')).bytes)).toBe(digest(large))
      const longer = Buffer.concat([large, Buffer.from('!')])
      expectStatus(await write('/large.dat', longer, octets), 413)
      expect(digest(await onDisk('large.dat'))).toBe(digest(large))
    })

    it('are text of 4 MiB, too, though quotes and controls are longer on their way', async () => {
      const text = '"\u0001\\\n'.repeat(mebibyte)
      expectStatus(await write('/quotes.txt', text, octets), 204)
      expect(digest((await read('/quotes.txt')).bytes)).toBe(digest(Buffer.from(text)))
    })

    it('of 20 MiB go straight to the daemon by a signed link, and come from there', async () => {
      const { asOwner, daemon } = at()
      const upload = expectStatus(await asOwner('GET', '/files/upload'), 200).attributes.url
      expect(new URL(upload).host).toBe(new URL(daemon.url).host)
      const form = new FormData()
      form.append('files', new Blob([world]), 'region.mca')
      const sent = await fetch(`${upload}&directory=%2F`, { method: 'POST', body: form })
      expect(sent.status).toBe(200)
      expect(digest(await onDisk('region.mca'))).toBe(digest(world))
      const download = expectStatus(await asOwner('GET', '/files/download?file=region.mca'), 200).attributes
        .url
      expect(new URL(download).host).toBe(new URL(daemon.url).host)
      const fetched = await fetch(download)
      expect([fetched.status, digest(await fetched.bytes())]).toEqual([200, digest(world)])
      expect((await read('/region.mca')).status).toBe(400)
      expect((await fetch(download)).status).not.toBe(200)
    })

    it('are packed, renamed, unpacked and deleted', async () => {
      const { asOwner } = at()
      const post = (route: string, json: object) => asOwner('POST', `/files/${route}`, { json })
      expectStatus(await post('create-folder', { root: '/', name: 'worlds' }), 204)
      expectStatus(await write('/worlds/level.dat', everyByte, octets), 204)
      const packed = expectStatus(await post('compress', { root: '/', files: ['worlds'] }), 200)
      const rename = { root: '/', files: [{ from: 'worlds', to: 'original' }] }
      expectStatus(await asOwner('PUT', '/files/rename', { json: rename }), 204)
      expectStatus(await post('decompress', { root: '/', file: packed.attributes.name }), 204)
      expect(digest(await onDisk('worlds/level.dat'))).toBe(digest(everyByte))
      expectStatus(await post('delete', { root: '/', files: ['original'] }), 204)
      expect(await namesIn('/')).not.toContain('original')
    })
  })
}
