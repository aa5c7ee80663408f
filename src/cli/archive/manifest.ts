import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import * as z from 'zod'
import { OperationError } from '../faults.ts'

export const manifestName = 'manifest.json'

/** The first file of an archive: what is in it, and what it takes to restore it. */
const Manifest = z.object({
  format: z.literal(1),
  /** Version of the panel that wrote it. */
  version: z.string(),
  created_at: z.string(),
  database: z.enum(['embedded', 'postgres']),
  /** The newest migration of the database, in milliseconds since 1970, and how many there are. */
  schema: z.object({ newest: z.number(), count: z.number() }),
  /** The keys of the panel; `secrets` is null where they could not be counted. */
  keys: z.array(z.object({ id: z.string(), fingerprint: z.string(), secrets: z.number().nullable() })),
  has_keys: z.boolean(),
  has_objects: z.boolean(),
  files: z.record(z.string(), z.object({ size: z.number(), sha256: z.string() })),
})
export type Manifest = z.output<typeof Manifest>

/** Hashes every file below a folder except the manifest; paths have slashes. */
export async function hashFiles(folder: string): Promise<Manifest['files']> {
  const files: Manifest['files'] = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).split(sep).join('/')
    if (!entry.isFile() || name === manifestName) continue
    const hash = createHash('sha256')
    await pipeline(createReadStream(path), hash)
    files[name] = { size: (await stat(path)).size, sha256: hash.digest('hex') }
  }
  return files
}

/** Reads the manifest of an unpacked archive and compares every file with it. Throws for the first that differs. */
export async function verifyFiles(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch(() => null)
  if (text === null) throw new OperationError('The file is no backup of a panel: it has no manifest.')
  const parsed = Manifest.safeParse(parseJson(text))
  if (!parsed.success)
    throw new OperationError('The manifest cannot be read: the archive is of another version, or damaged.')
  const found = await hashFiles(folder)
  for (const [name, { sha256 }] of Object.entries(parsed.data.files)) {
    if (found[name]?.sha256 !== sha256)
      throw new OperationError(
        `The archive is damaged: ${name} ${found[name] ? 'is not what was backed up' : 'is missing'}. Take another backup.`,
      )
  }
  const surplus = Object.keys(found).find((name) => !(name in parsed.data.files))
  if (surplus !== undefined)
    throw new OperationError(`The archive is damaged: the manifest does not name ${surplus}.`)
  return parsed.data
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
