import { eq, or, type Placeholder, sql } from 'drizzle-orm'
import { servers } from '../../db/schema.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const shortPattern = /^[0-9a-f]{8}$/i

/** Parses what callers identify a server by: its uuid, or the first eight characters of it. */
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
) => or(eq(servers.uuid, sql`${uuid}::uuid`), eq(servers.uuidShort, sql`${short}::text`))
