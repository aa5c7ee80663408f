import { single } from '../../db/database.ts'
import { oneRow } from '../../db/data-column.ts'
import type { Panel } from '../../panel.ts'
import { arePasskeysAvailable } from '../auth/passkeys/relying-party.ts'
import { settingsColumn } from '../settings/settings.ts'
import { isSetupDueColumn } from './code.ts'

/** What a guest sees of the set-up: whether it is due, how the first administrator can sign in, and whether there can be a demo. */
export type SetupState = { isDue: boolean; hasPasskeys: boolean; hasDemo: boolean }

/** Reads what a guest sees of the set-up. One statement. */
export async function readSetupState(panel: Panel): Promise<SetupState> {
  const { isDue, settings } = single(
    await panel.db
      .select({ isDue: isSetupDueColumn, settings: settingsColumn(['sign_in.passkeys']) })
      .from(oneRow),
  )
  const hasDemo = isDue && panel.startDemo !== undefined
  return { isDue, hasPasskeys: arePasskeysAvailable(panel, settings), hasDemo }
}
