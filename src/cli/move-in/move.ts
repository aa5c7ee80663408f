import type { PgTable } from 'drizzle-orm/pg-core'
import type { Tx } from '../../panel.ts'
import type { SecretLocation } from '../../domain/secrets.ts'
import type { ActivityScope } from './activity-scope.ts'
import { type AppKeys, decryptColumn, UnreadableSecretError } from './laravel.ts'
import type { OldEnv } from './old-env.ts'
import type { MoveReport } from './report.ts'
import type { SourceKind } from './source-schema.ts'
import type { SourceRow, Spool } from './spool.ts'

/** What a pass over the old panel's rows knows. */
export type Move = {
  kind: SourceKind
  keys: AppKeys
  /** IANA name of the time zone in which the old panel's schedules run. */
  timezone: string
  now: Date
  /** What the old panel's `.env` says. */
  env: OldEnv
  /** The domain that passkeys of this panel are bound to; null where it can have none. */
  passkeyDomain: string | null
  /** Accounts at providers that users linked here, as `provider subject`. */
  linkedHere: Set<string>
  spool: Spool
  activity: ActivityScope
  report: MoveReport
  /** Ids that are moved, by table: a row of another parent is left out. */
  moved: Map<string, Set<number>>
  /** Keys of rows that are there and not deleted, by table of this panel. */
  presentKeys: Map<string, Set<string>>
  /** Ids of rows that this run wrote, by table of the old panel. */
  touched: Map<string, Set<number>>
  /** Rows by values that may be used once here, and more often there. */
  seen: Map<string, number>
  /** Recovery codes so far, of users with a second factor. */
  recoveryCodes: Map<number, number>
  facts: Facts
}

/** What the rows of one table need of others. */
export type Facts = {
  /** Server by allocation, and whether the allocation is free. */
  allocationServers: Map<number, number | null>
  /** Names of the environment variables by id. */
  variableNames: Map<number, string>
  /** Values of variables by server and name. */
  serverVariables: Map<number, Record<string, string>>
  /** Roles by user, and names of roles. */
  userRoles: Map<number, number[]>
  roleNames: Map<number, string>
  rolePermissions: Map<number, string[]>
  /** Disks of backup hosts by id. */
  disks: Map<number, string>
  /** The node of a database host that has one. */
  hostNodes: Map<number, number>
}

/** A secret in plain text, and where the panel stores it encrypted. */
export type MovedSecret = { column: string; plain: string; location: SecretLocation }
/** A row of this panel, by the names of its columns in code. */
export type MovedRow = { values: Record<string, unknown>; secrets?: MovedSecret[] }

/** How the rows of a table move. */
export type Step = {
  /** The table of the old panel. */
  source: string
  target: PgTable
  /** Columns whose values may be used once, alone or together, also by rows of this panel that have other ids. */
  unique?: (string | readonly string[])[]
  /** The most characters that columns can have here; none of them can be empty. */
  lengths?: Record<string, number>
  /** The columns by which rows are known that have no id of the old panel. */
  key?: readonly string[]
  /** Columns that change in use, and are not verified. */
  changing?: string[]
  /** Those of them that are never carried over by themselves. */
  unsettled?: string[]
  /** Whether rows with such a key are verified: what a user used up is not. */
  isVerified?: boolean
  /** Whether a row that is gone there stays here. */
  staysWhenGone?: boolean
  /** Maps a row; null leaves it out, for the reason that was reported. */
  map: (row: SourceRow, move: Move) => MovedRow | MovedRow[] | null
  /** Completes the rows in the same transaction. */
  after?: (tx: Tx, move: Move) => Promise<void>
}

/** Decrypts a column. Reports as refused a value that no key decrypts, and returns null. */
export function readSecret(move: Move, source: string, row: SourceRow, column: string): string | null {
  try {
    return decryptColumn(move.keys, String(row[column] ?? ''))
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error
    move.report.refuse(source, Number(row.id), `${column} ${error.message}`)
    return null
  }
}

/** Whether the row's parent is moved. Reports a row that is left out because it is not. */
export function hasParent(
  move: Move,
  source: string,
  row: SourceRow,
  column: string,
  parent: string,
): boolean {
  const id = row[column]
  if (id !== null && id !== undefined && move.moved.get(parent)?.has(Number(id))) return true
  move.report.leaveOut(source, Number(row.id ?? 0), `${column} names a row of ${parent} that is not moved`)
  return false
}

/** Returns the first characters of a text, and reports that it was cut. */
export function cutTo(move: Move, source: string, row: SourceRow, column: string, length: number): string {
  const text = String(row[column] ?? '')
  if (text.length <= length) return text
  // Of a pair of surrogates no half is left.
  const characters = Array.from(text)
  if (characters.length <= length) return text
  move.report.change(source, Number(row.id), `${column} is cut to ${length} characters`)
  return characters.slice(0, length).join('')
}

/**
 * Returns the row of the old panel that had these values first, and keeps them for this one where none had. Texts that
 * differ in case are the same.
 */
export function findFirst(
  move: Move,
  table: string,
  id: number,
  values: readonly (string | number)[],
): number | null {
  const key = `${table}/${values.join('/').toLowerCase()}`
  const first = move.seen.get(key)
  if (first === undefined) move.seen.set(key, id)
  return first ?? null
}
