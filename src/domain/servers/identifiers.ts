import { eq, inArray, or, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { servers } from '../../db/schema.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const shortPattern = /^[0-9a-z]{8}$/i

/**
 * Parses what callers identify a server by: its uuid, or its short identifier, in letters of any case. That is the first
 * eight characters of the uuid, or what another panel drew at random before the server moved in.
 */
export const parseServerIdentifier = (
  identifier: string | null,
): { uuid: string | null; short: string | null } => ({
  uuid: identifier !== null && uuidPattern.test(identifier) ? identifier : null,
  short: identifier !== null && shortPattern.test(identifier) ? identifier.toLowerCase() : null,
})

/** Matches the server with this uuid or short identifier; by default the placeholders `uuid` and `short`. */
export const matchesServerIdentifier = (
  { uuid, short }: Record<'uuid' | 'short', string | null | Placeholder> = {
    uuid: sql.placeholder('uuid'),
    short: sql.placeholder('short'),
  },
) => or(eq(servers.uuid, sql`${uuid}::uuid`), matchesShort(sql`${short}::text`))

/** Matches the server with a short identifier, which is given in small letters. */
export const matchesShort = (short: SQL) => sql`lower(${servers.uuidShort}) = ${short}`

/** Matches servers with one of the identifiers, as `parseServerIdentifier` returns them. */
export function isIdentifiedBy(parsed: readonly ReturnType<typeof parseServerIdentifier>[]) {
  const uuids = parsed.flatMap(({ uuid }) => uuid ?? [])
  const shorts = parsed.flatMap(({ short }) => short ?? [])
  return or(inArray(servers.uuid, uuids), inArray(sql`lower(${servers.uuidShort})`, shorts))
}
