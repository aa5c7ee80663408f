import { randomBytes } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { SigningKeys } from '../../adapters/queue-signature.ts'
import { causeOf, log } from '../../log.ts'
import { giveToOwner } from './file-owner.ts'
import { lockFolder } from './folder-lock.ts'
import { makeFilesPrivate, makePrivateFolder } from './private-files.ts'

/** Secrets of an installation whose environment has none. */
export type LocalSecrets = { appKeys: string; signingKeys: SigningKeys; objects: string }

export type DataDirectory = { path: string; secrets: LocalSecrets; release: () => Promise<void> }

/** Files and folders of the data directory that hold secrets. */
const secretNames = ['secrets.json', 'bootstrap.json', 'bootstrap.json.new', 'outbox', 'lock']

/**
 * Opens the folder in which one process keeps its data, readable by its account alone, and locks it while the process
 * lives: a second process would damage the embedded database. Throws when it is in use, and when other accounts could
 * read it. Spec: docs/security.md#the-data-directory.
 */
export async function openDataDirectory(configured: string): Promise<DataDirectory> {
  const { path, release } = await lockDataDirectory(configured)
  try {
    return { path, secrets: await readSecrets(path), release }
  } catch (error) {
    await release()
    throw error
  }
}

/**
 * Locks the folder as `openDataDirectory` does, without making secrets where there are none. With the lock its owner gets
 * what root has made in it.
 */
export async function lockDataDirectory(configured: string): Promise<Omit<DataDirectory, 'secrets'>> {
  const path = resolve(configured)
  await makePrivateFolder(path)
  await makeFilesPrivate(path, secretNames)
  const release = await lockFolder(path).catch((error: unknown) => {
    throw explainFailure(path, error)
  })
  return {
    path,
    release: async () => {
      // On a disk that failed nothing can be given.
      await giveToOwner(path).catch((error: unknown) =>
        log('warn', 'Files of DATA_DIR still belong to root.', { cause: causeOf(error) }),
      )
      await release()
    },
  }
}

/** Opens the data directory without a lock: with an external database several processes may use the secrets in it. */
export async function shareDataDirectory(configured: string): Promise<DataDirectory> {
  const path = resolve(configured)
  const release = async () => undefined
  const text = await readFile(join(path, 'secrets.json'), 'utf8').catch(() => null)
  if (text !== null) return { path, secrets: JSON.parse(text) as LocalSecrets, release }
  const directory = await openDataDirectory(configured)
  await directory.release()
  return { ...directory, release }
}

/** Explains why a file of the folder could not be written; other failures stay as they are. */
function explainFailure(path: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined || !(error instanceof Error)) return error
  if (['ENOSPC', 'EDQUOT'].includes(code))
    return new Error(
      `DATA_DIR ${path} cannot be written: its disk is full (${code}). Free space there, or set DATA_DIR to a folder on another disk.`,
    )
  if (code === 'EROFS')
    return new Error(
      `DATA_DIR ${path} cannot be written: its disk is read-only (${code}). Mount it writable (the log of the kernel says why it is not), or set DATA_DIR to another folder or volume.`,
    )
  return new Error(
    `DATA_DIR ${path} cannot be written (${code}). Make it writable for this account (${process.getuid?.() ?? 'yours'}), or set DATA_DIR to another folder or volume.`,
  )
}

async function readSecrets(path: string): Promise<LocalSecrets> {
  const file = join(path, 'secrets.json')
  try {
    return JSON.parse(await readFile(file, 'utf8')) as LocalSecrets
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Error(
        `${file} is damaged. Bring it back from a backup: without it no stored secret can be read.`,
      )
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const secrets: LocalSecrets = {
      appKeys: `k1:${randomBytes(32).toString('base64')}`,
      signingKeys: {
        current: `sig_${randomBytes(24).toString('hex')}`,
        next: `sig_${randomBytes(24).toString('hex')}`,
      },
      objects: randomBytes(32).toString('hex'),
    }
    await writeWhole(file, JSON.stringify(secrets, null, 2)).catch((failure: unknown) => {
      throw explainFailure(path, failure)
    })
    return secrets
  }
}

/** Writes a private file, of which nothing is there unless all of it is. */
async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.new`
  try {
    await writeFile(draft, text, { mode: 0o600, flush: true })
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
