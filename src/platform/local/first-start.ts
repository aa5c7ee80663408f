import { seedEggs } from '../../../drizzle/seed.ts'
import { issueSetupCode } from '../../domain/setup/code.ts'
import type { Panel } from '../../panel.ts'

/** Stores the included eggs of a panel without users, and returns its set-up code; null where there are users. */
export async function prepareSetup(panel: Panel): Promise<string | null> {
  const code = await issueSetupCode(panel)
  if (code !== null) await seedEggs(panel)
  return code
}
