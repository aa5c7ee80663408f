import { DumpError } from './dump-bytes.ts'
import { parseSettings } from './dump-syntax.ts'
import type { TextRules } from './dump-values.ts'
import { isZone } from './source-zone.ts'
import type { SourceColumn } from './store-rows.ts'

/** Character sets of MySQL whose bytes can be read: in others, a byte of a letter may be a backslash. */
const encodings: Record<string, string> = {
  utf8mb4: 'utf-8',
  utf8mb3: 'utf-8',
  utf8: 'utf-8',
  ascii: 'utf-8',
  latin1: 'windows-1252',
}

/** The settings of the session that a dump changes: its character set, how texts escape, and the zone of dates. */
export class DumpSettings implements TextRules {
  hasBackslash = true
  #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #mode = ''
  #name = 'utf8mb4'
  #zone: string | null = null
  readonly #givenZone: string | undefined
  readonly #saved = new Map<string, string>()

  /** `givenZone` is that of a dump that does not state one. */
  constructor(givenZone: string | undefined) {
    this.#givenZone = givenZone
  }

  get backslash(): boolean {
    return this.hasBackslash
  }

  decode = (bytes: Uint8Array): string => this.#decoder.decode(bytes)

  /** Follows a `SET`. Refuses a character set that cannot be read. */
  read(text: string, place: string): void {
    for (const [name, value] of parseSettings(text)) {
      if (name === 'names') this.#setNames(value, place)
      else if (name === 'time_zone' && !value.startsWith('@')) this.#zone = value
      else if (name === 'sql_mode') this.#setMode(value)
      else if (name.startsWith('@') && /^@@(?:\w+\.)?sql_mode$/i.test(value))
        this.#saved.set(name, this.#mode)
    }
  }

  #setNames(name: string, place: string): void {
    const encoding = encodings[name]
    if (encoding === undefined)
      throw new DumpError(
        `${place}: the dump has the character set ${name}, which cannot be read. Make it again with --default-character-set=utf8mb4.`,
      )
    this.#name = name
    this.#decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  }

  /** Says what a dump of a smaller character set has lost when it was made. */
  notes(): string[] {
    return /^(?:latin1|ascii)$/.test(this.#name)
      ? [
          `The dump has the character set ${this.#name}: what that lacks, such as emoji, became ? when it was made. ` +
            'Make it again with --default-character-set=utf8mb4 to keep it.',
        ]
      : []
  }

  #setMode(value: string): void {
    this.#mode = value.startsWith('@') ? (this.#saved.get(value.toLowerCase()) ?? '') : value
    this.hasBackslash = !/no_backslash_escapes/i.test(this.#mode)
  }

  /** Returns the zone of the dates of a table's rows. Throws where the dump does not state one and none is given. */
  requireZone(columns: readonly SourceColumn[], table: string, place: string): string {
    const hasDates = columns.some(({ type }) => type === 'timestamp')
    const isStated = this.#zone !== null && isZone(this.#zone)
    if (isStated || !hasDates) return isStated ? String(this.#zone) : 'UTC'
    if (this.#givenZone !== undefined) return this.#givenZone
    throw new DumpError(
      `${place}: the dump does not state the time zone of its dates (${table} has the first), as with --skip-tz-utc. ` +
        'Make it again without that option, or give the zone of its server with --dump-timezone.',
    )
  }
}
