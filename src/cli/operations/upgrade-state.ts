import * as z from 'zod'
import { newestMigration } from '../../db/migration-state.ts'
import type { Panel } from '../../panel.ts'
import { version } from '../../version.ts'

/** The version that runs, null where none was asked, and the time of the newest applied migration in milliseconds. */
export type UpgradeState = { running: string | null; newest: number | null }

/** The input of `upgrade:state`: nothing. */
export const UpgradeStateInput = () => z.object({})

/** Tells the version of this process and the newest migration of its database. Changes nothing. */
export const readUpgradeState = async ({ db }: Pick<Panel, 'db'>): Promise<UpgradeState> => ({
  running: version,
  newest: await newestMigration(db),
})
