import { and, eq, sql } from 'drizzle-orm'
import { single } from '../../db/database.ts'
import { embedMany } from '../../db/embed.ts'
import { identities, passkeys, sessions, users } from '../../db/schema.ts'
import type { Identity } from '../../db/tables/identities.ts'
import type { Passkey } from '../../db/tables/passkeys.ts'
import type { Session } from '../../db/tables/sessions.ts'
import type { Panel } from '../../panel.ts'
import { settingsColumn } from '../settings/settings.ts'
import { requireCaller } from './caller.ts'
import { listPublicProviders, providerSettings, type PublicProvider } from './oauth/providers.ts'
import { arePasskeysAvailable } from './passkeys/relying-party.ts'

/** Messages in the session that are shown once. */
type FlashMessages = { notice: string | null; error: string | null }

/** The caller's sign-in methods besides the password, and the messages of the session. */
export type SecurityOverview = FlashMessages & {
  passkeysEnabled: boolean
  providers: PublicProvider[]
  passkeys: Passkey[]
  identities: Identity[]
}

/**
 * Reads the caller's sign-in methods and takes the messages of the session, which parallel requests get
 * once. One statement. Spec: getAccountSecurity.
 */
export async function readSecurityOverview(panel: Panel, session: Session | null): Promise<SecurityOverview> {
  const user = requireCaller(panel)
  const notice = session?.data.notice ?? null
  const error = session?.data.error ?? null
  const found = single(
    await panel.db
      .with(takeFlashMessages(panel, session?.id ?? '', { notice, error }))
      .select({
        settings: settingsColumn(['sign_in.passkeys', ...providerSettings]),
        passkeys: embedMany(passkeys, { where: (passkey) => eq(passkey.userId, user.id) }),
        identities: embedMany(identities, { where: (identity) => eq(identity.userId, user.id) }),
        areMessagesTaken: sql<boolean>`exists (select 1 from taken)`,
      })
      .from(users)
      .where(eq(users.id, user.id)),
  )
  return {
    passkeysEnabled: arePasskeysAvailable(panel, found.settings),
    providers: listPublicProviders(found.settings),
    passkeys: found.passkeys,
    identities: found.identities,
    notice: found.areMessagesTaken ? notice : null,
    error: found.areMessagesTaken ? error : null,
  }
}

/** Removes the messages from the session if they have not changed since it was read. */
function takeFlashMessages({ db }: Panel, id: string, { notice, error }: FlashMessages) {
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
