import { randomBytes } from 'node:crypto'
import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { SigningKeys } from '../../adapters/queue-signature.ts'
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
  const path = resolve(configured)
  await makePrivateFolder(path)
  await makeFilesPrivate(path, secretNames)
  const lock = join(path, 'lock')
  await acquireLock(lock, path)
  return {
    path,
    secrets: await readSecrets(join(path, 'secrets.json')),
    release: () => rm(lock, { force: true }),
  }
}

async function acquireLock(lock: string, path: string, attempts = 2): Promise<void> {
  try {
    const file = await open(lock, 'wx', 0o600)
    await file.writeFile(String(process.pid))
    await file.close()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const holder = Number(await readFile(lock, 'utf8').catch(() => ''))
    if (attempts <= 1 || isAlive(holder)) {
      throw new Error(`${path} is in use by process ${holder}. Stop it, or set DATA_DIR to another folder.`)
    }
    await rm(lock, { force: true })
    await acquireLock(lock, path, attempts - 1)
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function readSecrets(file: string): Promise<LocalSecrets> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as LocalSecrets
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const secrets: LocalSecrets = {
      appKeys: `k1:${randomBytes(32).toString('base64')}`,
      signingKeys: {
        current: `sig_${randomBytes(24).toString('hex')}`,
        next: `sig_${randomBytes(24).toString('hex')}`,
      },
      objects: randomBytes(32).toString('hex'),
    }
    await writeFile(file, JSON.stringify(secrets, null, 2), { mode: 0o600, flag: 'wx' })
    return secrets
  }
}
