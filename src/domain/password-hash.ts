import bcrypt from 'bcryptjs'
import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto'

const cost = { N: 16_384, r: 8, p: 5 }
const saltBytes = 16
const hashBytes = 32
/** For what is random itself, if not by far: 4 MiB and some 10 ms. */
const cheaperCost = { N: 4096, r: 8, p: 1 }
/** Hashes at a time: each takes 16 MiB and a thread. */
const mostAtOnce = 3

/** The hash of nobody's password: comparing with it takes as long as with a real one. */
const nobody = `scrypt$${cost.N}$${cost.r}$${cost.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** The password as it is stored: `scrypt$N$r$p$<salt>$<hash>`, both in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const hash = await derive(password, salt, hashBytes, cost)
  const { N, r, p } = cost
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/**
 * Whether the password is the one that was hashed. Null, for accounts that do not exist or have no
 * password, and hashes of another kind are never right, after the same work.
 */
export const verifyPassword = async (password: string, stored: string | null): Promise<boolean> =>
  isImported(stored) ? (await checkPassword(password, stored)).isRight : isHashOf(password, stored)

/**
 * The same, and a new hash of a right password to store instead of an imported one or one of cheaper days.
 * It is made beside the comparison, also for a wrong password: no account is refused sooner than others. Only a
 * bcrypt that is slower than the new hash shows, until its owner has signed in.
 */
export async function checkPassword(
  password: string,
  stored: string | null,
): Promise<{ isRight: boolean; renewed: string | null }> {
  const renewing = stored !== null && isOutdated(stored) ? hashPassword(password) : null
  const [isRight, renewed] = await Promise.all([isHashOf(password, stored), renewing])
  return { isRight, renewed: isRight ? renewed : null }
}

async function isHashOf(password: string, stored: string | null): Promise<boolean> {
  if (isImported(stored)) return isImportedHashOf(password, stored)
  const own = stored === null ? null : readHash(stored)
  const { salt, hash, options } = own ?? (readHash(nobody) as StoredHash)
  const derived = await derive(password, salt, hash.length, options)
  return timingSafeEqual(derived, hash) && own !== null
}

/**
 * The same secret and salt have the same hash, by which a row can be found: for short random secrets, too many
 * to be guessed one by one and too few to be safe behind a fast hash. In base64url.
 */
export const hashWithSalt = async (secret: string, salt: string): Promise<string> =>
  (await derive(secret, Buffer.from(salt), hashBytes, cheaperCost)).toString('base64url')

/** Whether a stored hash is not made as new ones are. */
const isOutdated = (stored: string): boolean => !stored.startsWith(`scrypt$${cost.N}$${cost.r}$${cost.p}$`)

/** Hashes of panels that were moved here: bcrypt, under each of its names. */
const isImported = (stored: string | null): stored is string => stored?.startsWith('$2') ?? false

const isImportedHashOf = (password: string, stored: string): Promise<boolean> =>
  oneOfFew(() => bcrypt.compare(password, stored.replace(/^\$2[xy]\$/, '$2b$')))

type StoredHash = { salt: Buffer; hash: Buffer; options: ScryptOptions }

function readHash(stored: string): StoredHash | null {
  const match = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]{22,})\$([\w-]{22,})$/.exec(stored)
  if (!match) return null
  const [, N, r, p, salt = '', hash = ''] = match
  return {
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
    options: { N: Number(N), r: Number(r), p: Number(p) },
  }
}

const derive = (password: string, salt: Buffer, length: number, options: ScryptOptions): Promise<Buffer> =>
  oneOfFew(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        scrypt(password, salt, length, options, (error, key) => (error ? reject(error) : resolve(key)))
      }),
  )

let running = 0
const waiting: (() => void)[] = []

/** Waits until fewer than `mostAtOnce` are running; first come, first served. */
async function oneOfFew<T>(work: () => Promise<T>): Promise<T> {
  if (running === mostAtOnce) await new Promise<void>((resolve) => waiting.push(resolve))
  else running += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}
