import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/** Delays every scrypt of this process until `release`; `waitingCount` is how many wait for it. */
export function delayHashes(): { waitingCount: () => number; release: () => void } {
  const real = crypto.scrypt as (...input: unknown[]) => void
  const waiting: unknown[][] = []
  replaceScrypt((...input) => void waiting.push(input))
  return {
    waitingCount: () => waiting.length,
    release: () => {
      replaceScrypt(real)
      for (const input of waiting.splice(0)) real(...input)
    },
  }
}

function replaceScrypt(scrypt: (...input: unknown[]) => void): void {
  Object.assign(crypto, { scrypt })
  // Modules that import it by its name see the change after this.
  syncBuiltinESMExports()
}
