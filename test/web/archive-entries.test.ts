import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create } from 'tar'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listTar } from '../../src/web/server/preview/tar-entries.ts'
import { listZip, maxListedEntries } from '../../src/web/server/preview/zip-entries.ts'

const encode = (text: string) => new TextEncoder().encode(text)

/** Writes the central directory of a zip, without the files, which its list does not need. */
function zipOf(names: string[], before = ''): Blob {
  const records = names.map((name) => {
    const bytes = encode(name)
    const record = new DataView(new ArrayBuffer(46))
    record.setUint32(0, 0x02014b50, true)
    record.setUint32(24, name.length * 10, true)
    record.setUint16(28, bytes.length, true)
    return new Blob([record, bytes])
  })
  const directory = new Blob(records)
  const end = new DataView(new ArrayBuffer(22))
  end.setUint32(0, 0x06054b50, true)
  end.setUint16(10, names.length, true)
  end.setUint32(12, directory.size, true)
  return new Blob([before, directory, end])
}

describe('the entries of a zip', () => {
  it('are those of its central directory, whatever stands before it', async () => {
    const expected = {
      entries: [
        { name: 'world/', size: 60, isFolder: true },
        { name: 'world/welt-ä.dat', size: 160, isFolder: false },
      ],
      isTruncated: false,
    }
    expect(await listZip(zipOf(['world/', 'world/welt-ä.dat']))).toEqual(expected)
    expect(await listZip(zipOf(['world/', 'world/welt-ä.dat'], 'MZ an installer'))).toEqual(expected)
    expect(await listZip(zipOf([]))).toEqual({ entries: [], isTruncated: false })
  })

  it('are cut off when there are very many', async () => {
    const names = Array.from({ length: maxListedEntries + 1 }, (_, at) => `${at}`)
    const listing = await listZip(zipOf(names))
    expect(listing?.entries).toHaveLength(maxListedEntries)
    expect(listing?.isTruncated).toBe(true)
  })

  it('are none in what is no zip, or only a part of one', async () => {
    expect(await listZip(new Blob(['no archive']))).toBeNull()
    expect(await listZip(new Blob([]))).toBeNull()
    expect(await listZip(zipOf(['a', 'b']).slice(0, 60))).toBeNull()
  })
})

describe('the entries of a tar', () => {
  const longName = `${'long-'.repeat(40)}name.txt`
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), `tar-${randomUUID().slice(0, 8)}-`))
    await mkdir(join(directory, 'world'))
    await writeFile(join(directory, 'world/level.dat'), 'x'.repeat(1500))
    await writeFile(join(directory, 'world', longName), 'y')
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  const expected = [
    { name: 'world/', size: 0, isFolder: true },
    { name: `world/${longName}`, size: 1, isFolder: false },
    { name: 'world/level.dat', size: 1500, isFolder: false },
  ]
  const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)

  it('are read from a stream, with long names', async () => {
    const chunks: Buffer[] = []
    for await (const chunk of create({ cwd: directory, portable: true }, ['world'])) chunks.push(chunk)
    const bytes = new Blob([Buffer.concat(chunks)])
    const listing = await listTar(bytes.stream())
    expect(listing.entries.toSorted(byName)).toEqual(expected.toSorted(byName))
    const cut = await listTar(bytes.slice(0, 1600).stream())
    expect(cut.entries.length).toBeGreaterThan(0)
    expect(await listTar(new Blob([]).stream())).toEqual({ entries: [], isTruncated: false })
  })

  it('are the same as GNU tar writes them', async () => {
    const { stdout, status } = spawnSync('tar', ['--format=gnu', '-cf', '-', '-C', directory, 'world'])
    if (status !== 0) return
    const listing = await listTar(new Blob([stdout]).stream())
    expect(listing.entries.toSorted(byName)).toEqual(expected.toSorted(byName))
  })
})
