import type { OldEnv } from './old-env.ts'

/** Letters that separate numbers, and so end none. */
const separatorLetters = Array.from('cfhistuCFHISTU')
const lettersOfSeparator = 3.5
const lettersOfGuard = 12
const defaultAlphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890'
const minLetters = 16

/** Writes ids as the old panel's client API did. */
export type Hashids = (id: number) => string

/** What a panel writes ids with. */
export type HashidOptions = { salt: string; length: number; alphabet: string }

/** Reads the options of the old panel. Throws for an alphabet with which it could not have written any id. */
export function hashidOptionsOf(env: NonNullable<OldEnv>): HashidOptions {
  const options = {
    salt: env.HASHIDS_SALT ?? '',
    length: Number(env.HASHIDS_LENGTH?.trim() || 8),
    alphabet: env.HASHIDS_ALPHABET?.trim() || defaultAlphabet,
  }
  if (!Number.isSafeInteger(options.length) || options.length < 0)
    throw new Error('HASHIDS_LENGTH of --env is no number.')
  const letters = new Set(options.alphabet)
  if (letters.size < minLetters || /\s/.test(options.alphabet))
    throw new Error('HASHIDS_ALPHABET of --env needs 16 different letters, and no blank.')
  return options
}

/** Opens the writer of ids: the algorithm of hashids.org, for one number. */
export function openHashids({ salt: saltText, length, alphabet: alphabetText }: HashidOptions): Hashids {
  const salt = Array.from(saltText)
  const { alphabet, guards } = prepareLetters([...new Set(alphabetText)], salt)
  return (id) => {
    const lottery = alphabet[(id % 100) % alphabet.length] ?? ''
    const letters = shuffled(alphabet, [lottery, ...salt, ...alphabet].slice(0, alphabet.length))
    return lengthen([lottery, ...digitsOf(id, letters)], {
      checksum: id % 100,
      length,
      letters,
      guards,
    }).join('')
  }
}

/** Takes the separators and the guards out of the alphabet. The order of all depends on the salt. */
function prepareLetters(all: string[], salt: string[]): { alphabet: string[]; guards: string[] } {
  let separators = shuffled(
    separatorLetters.filter((letter) => all.includes(letter)),
    salt,
  )
  let alphabet = all.filter((letter) => !separatorLetters.includes(letter))
  if (separators.length === 0 || alphabet.length / separators.length > lettersOfSeparator) {
    const missing = Math.ceil(alphabet.length / lettersOfSeparator) - separators.length
    if (missing > 0) {
      separators = [...separators, ...alphabet.slice(0, missing)]
      alphabet = alphabet.slice(missing)
    }
  }
  alphabet = shuffled(alphabet, salt)
  const guardCount = Math.ceil(alphabet.length / lettersOfGuard)
  return alphabet.length < 3
    ? { alphabet, guards: separators.slice(0, guardCount) }
    : { alphabet: alphabet.slice(guardCount), guards: alphabet.slice(0, guardCount) }
}

/** Adds guards, and then halves of the alphabet on both sides, until the id is long enough. */
function lengthen(
  id: string[],
  {
    checksum,
    length,
    letters,
    guards,
  }: { checksum: number; length: number; letters: string[]; guards: string[] },
): string[] {
  let [text, alphabet] = [id, letters]
  const guardBy = (letter: string | undefined) =>
    guards[(checksum + codeOf(letter ?? '')) % guards.length] ?? ''
  if (text.length < length) text = [guardBy(text[0]), ...text]
  if (text.length < length) text = [...text, guardBy(text[2])]
  const half = Math.floor(alphabet.length / 2)
  while (text.length < length) {
    alphabet = shuffled(alphabet, alphabet)
    text = [...alphabet.slice(half), ...text, ...alphabet.slice(0, half)]
    const excess = text.length - length
    if (excess > 0) text = text.slice(Math.floor(excess / 2), Math.floor(excess / 2) + length)
  }
  return text
}

function digitsOf(id: number, letters: string[]): string[] {
  const digits: string[] = []
  let rest = id
  do {
    digits.unshift(letters[rest % letters.length] ?? '')
    rest = Math.floor(rest / letters.length)
  } while (rest > 0)
  return digits
}

/** Puts letters into the order that a salt gives them. */
function shuffled(letters: readonly string[], salt: readonly string[]): string[] {
  const order = [...letters]
  let sum = 0
  for (let [at, step] = [order.length - 1, 0]; salt.length > 0 && at > 0; at -= 1, step += 1) {
    const index = step % salt.length
    const code = codeOf(salt[index] ?? '')
    sum += code
    const other = (code + index + sum) % at
    ;[order[at], order[other]] = [order[other] ?? '', order[at] ?? '']
  }
  return order
}

const codeOf = (letter: string) => letter.codePointAt(0) ?? 0
