import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { users } from '../../db/schema.ts'
import { forbidden } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { type ClientInfo, type SignIn, startSession } from '../auth/login.ts'
import { deleteSetupCode, requireSetupCode, setupIsDone } from './code.ts'
import { codeField } from './first-administrator.ts'

/** The code of the set-up. Spec: docs/accounts.md#set-up. */
export const DemoInput = () => z.object({ code: codeField() })
type DemoInput = z.output<ReturnType<typeof DemoInput>>

/**
 * Creates the demo in place of a set-up, and signs in as its administrator. Refuses with 403 where a demo would not be
 * safe, and as `requireSetupCode`. Records `auth:success`.
 */
export async function chooseDemo(panel: Panel, { code }: DemoInput, clientInfo: ClientInfo): Promise<SignIn> {
  await requireSetupCode(panel, code)
  if (!panel.startDemo)
    throw forbidden('demo_not_local', 'A demo is only for a panel that this machine alone can reach.')
  const username = await panel.startDemo()
  if (username === null) throw setupIsDone()
  return inTransaction(panel, async (tx) => {
    const user = single(await tx.db.select().from(users).where(eq(users.username, username)))
    await deleteSetupCode(tx)
    return startSession(tx, user, clientInfo, { method: 'setup' })
  })
}
