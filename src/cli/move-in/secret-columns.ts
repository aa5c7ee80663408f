import { encrypt } from '../../domain/secrets.ts'
import type { Tx } from '../../panel.ts'
import type { MovedRow } from './move.ts'

/** Returns the values of a row with its secrets encrypted for this panel. */
export async function encryptRow(
  tx: Tx,
  { values, secrets = [] }: MovedRow,
): Promise<Record<string, unknown>> {
  const encrypted = secrets.map(async ({ column, plain, location }) => [
    column,
    await encrypt(tx, plain, location),
  ])
  return { ...values, ...(Object.fromEntries(await Promise.all(encrypted)) as Record<string, string>) }
}
