import { and, eq, sql } from 'drizzle-orm'
import { only } from '../../db/database.ts'
import { embedMany } from '../../db/embed.ts'
import { identities, passkeys, sessions, users } from '../../db/schema.ts'
import type { Identity } from '../../db/tables/identities.ts'
import type { Passkey } from '../../db/tables/passkeys.ts'
import type { Session } from '../../db/tables/sessions.ts'
import type { Panel } from '../../panel.ts'
import { providerSettings, type PublicProvider, publicProviders } from '../oauth/providers.ts'
import { arePasskeysUsable } from '../passkeys/relying-party.ts'
import type { SessionData } from '../sessions.ts'
import { settingsColumn } from '../settings.ts'
import { callersAccount } from './caller.ts'

/** What waits in a session to be told once. */
type Notes = { notice: string | null; error: string | null }

/** How somebody signs in besides his password. */
export type SecurityOverview = Notes & {
  passkeysEnabled: boolean
  providers: PublicProvider[]
  passkeys: Passkey[]
  identities: Identity[]
}

/**
 * How the caller signs in, and what waited in his session to be told: of many who ask at once, one is told.
 * One statement. Spec: GET /account/security.
 */
export async function readSecurity(panel: Panel, session: Session | null): Promise<SecurityOverview> {
  const user = callersAccount(panel)
  const { notice = null, error = null } = (session?.data ?? {}) as SessionData
  const found = only(
    await panel.db
      .with(takingNotes(panel, session?.id ?? '', { notice, error }))
      .select({
        settings: settingsColumn(['sign_in.passkeys', ...providerSettings]),
        passkeys: embedMany(passkeys, { where: (passkey) => eq(passkey.userId, user.id) }),
        identities: embedMany(identities, { where: (identity) => eq(identity.userId, user.id) }),
        areNotesTaken: sql<boolean>`exists (select 1 from taken)`,
      })
      .from(users)
      .where(eq(users.id, user.id)),
  )
  return {
    passkeysEnabled: arePasskeysUsable(panel, found.settings),
    providers: publicProviders(found.settings),
    passkeys: found.passkeys,
    identities: found.identities,
    notice: found.areNotesTaken ? notice : null,
    error: found.areNotesTaken ? error : null,
  }
}

/** Takes the notes out of the session while they are still these. */
function takingNotes({ db }: Panel, id: string, { notice, error }: Notes) {
  const { data } = sessions
  return db.$with('taken').as(
    db
      .update(sessions)
      .set({ data: sql`${data} - 'notice' - 'error'` })
      .where(
        and(
          eq(sessions.id, id),
          sql`${data} ?| array['notice', 'error']`,
          sql`${data} ->> 'notice' is not distinct from ${notice}::text`,
          sql`${data} ->> 'error' is not distinct from ${error}::text`,
        ),
      )
      .returning({ id: sessions.id }),
  )
}
