import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto'
import pLimit from 'p-limit'
import { overloaded } from '../../errors.ts'
import type { Panel, PasswordCost } from '../../panel.ts'

/** The cost of new hashes, unless the configuration of the panel names another. */
const defaultCost: PasswordCost = { N: 16_384, r: 8, p: 5 }
const saltBytes = 16
const hashBytes = 32
/** For random secrets of limited length: 4 MiB and about 10 ms. */
const lowCost = { N: 4096, r: 8, p: 1 }
/** Runs two hashes at a time: each takes 16 MiB and a thread. */
const limitConcurrency = pLimit(2)

/** Computes one hash beside the thread that answers requests. */
export type Scrypt = (
  password: string,
  salt: Buffer,
  length: number,
  options: ScryptOptions,
) => Promise<Buffer>

let runScrypt: Scrypt = (password, salt, length, options) =>
  new Promise((resolve, reject) => {
    scrypt(password, salt, length, options, (error, hash) => (error ? reject(error) : resolve(hash)))
  })

/** Sets what computes the hashes of this process, in place of the threads that Node has for files and ciphers. */
export const setScrypt = (run: Scrypt): void => {
  runScrypt = run
}

/** Hashes in progress and waiting at most; the last one waits for about three seconds. Spec: docs/limits.md#sign-ins. */
export const maxPasswordChecks = 24
let passwordChecks = 0

/**
 * Runs work that verifies or sets a password, from before its attempt is counted: what is refused must not count as a
 * guess. Refuses with 503 and `Retry-After` while this process has 24 in progress.
 */
export async function withPasswordCheck<T>(work: () => Promise<T>): Promise<T> {
  if (passwordChecks >= maxPasswordChecks)
    throw overloaded('sign_ins_overloaded', 'Too many users are signing in. Try again in a moment.')
  passwordChecks += 1
  try {
    return await work()
  } finally {
    passwordChecks -= 1
  }
}

/** Hashes a new password of a user. Refuses as `withPasswordCheck` does. */
export const hashNewPassword = ({ config }: Pick<Panel, 'config'>, password: string): Promise<string> =>
  withPasswordCheck(() => hashPassword(password, config.passwordCost))

const prefixOf = ({ N, r, p }: PasswordCost): string => `scrypt$${N}$${r}$${p}$`

/** Compared when there is no hash, so that it takes as long as a real comparison. */
const dummyHash = (cost: PasswordCost): string => `${prefixOf(cost)}${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Hashes a password with scrypt, as `scrypt$N$r$p$<salt>$<hash>` with salt and hash in base64url. */
export async function hashPassword(password: string, cost = defaultCost): Promise<string> {
  const salt = randomBytes(saltBytes)
  const hash = await derive(password, salt, hashBytes, cost)
  return `${prefixOf(cost)}${salt.toString('base64url')}$${hash.toString('base64url')}`
}

/**
 * Tells whether the password matches the hash. Null and hashes of unknown kinds never match, after the same
 * work.
 */
export const verifyPassword = async (
  password: string,
  storedHash: string | null,
  cost = defaultCost,
): Promise<boolean> =>
  isBcrypt(storedHash)
    ? (await checkAndRehashPassword(password, storedHash, cost)).isValid
    : matchesHash(password, storedHash, cost)

/**
 * Verifies the password and, when it matches an outdated or imported hash, returns a new hash to store. The
 * new hash is computed in parallel, also for a wrong password, so that no account is refused faster than
 * others. Only a bcrypt hash that is slower than scrypt can be noticed, until its owner has signed in.
 */
export async function checkAndRehashPassword(
  password: string,
  storedHash: string | null,
  cost = defaultCost,
): Promise<{ isValid: boolean; newHash: string | null }> {
  const isOutdated = storedHash !== null && !storedHash.startsWith(prefixOf(cost))
  const rehashing = isOutdated ? hashPassword(password, cost) : null
  const [isValid, newHash] = await Promise.all([matchesHash(password, storedHash, cost), rehashing])
  return { isValid, newHash: isValid ? newHash : null }
}

async function matchesHash(
  password: string,
  storedHash: string | null,
  cost: PasswordCost,
): Promise<boolean> {
  if (isBcrypt(storedHash)) return matchesBcrypt(password, storedHash)
  const parsed = storedHash === null ? null : parseHash(storedHash)
  const { salt, hash, options } = parsed ?? (parseHash(dummyHash(cost)) as StoredHash)
  const derived = await derive(password, salt, hash.length, options)
  return timingSafeEqual(derived, hash) && parsed !== null
}

/**
 * Hashes a short random secret with a fixed salt, so that a row can be found by its hash. In base64url.
 * Slow on purpose: such secrets are too short for a fast hash.
 */
export const hashWithSalt = async (secret: string, salt: string): Promise<string> =>
  (await derive(secret, Buffer.from(salt), hashBytes, lowCost)).toString('base64url')

/** Whether the hash is bcrypt, imported from another panel. */
const isBcrypt = (storedHash: string | null): storedHash is string => storedHash?.startsWith('$2') ?? false

/** Tells whether a text matches a bcrypt hash of any of its prefixes. Two run at a time, with other hashes. */
export const matchesBcrypt = (password: string, storedHash: string): Promise<boolean> =>
  limitConcurrency(async () => {
    // Loaded with the first imported hash: a panel that imported no users has none.
    const { default: bcrypt } = await import('bcryptjs')
    return bcrypt.compare(password, storedHash.replace(/^\$2[xy]\$/, '$2b$'))
  })

type StoredHash = { salt: Buffer; hash: Buffer; options: ScryptOptions }

function parseHash(storedHash: string): StoredHash | null {
  const match = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]{22,})\$([\w-]{22,})$/.exec(storedHash)
  if (!match) return null
  const [, N, r, p, salt = '', hash = ''] = match
  return {
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
    options: { N: Number(N), r: Number(r), p: Number(p) },
  }
}

const derive: Scrypt = (password, salt, length, options) =>
  limitConcurrency(() => runScrypt(password, salt, length, options))
