import * as z from 'zod'
import { countSealed, reseal, type Resealed, type SealedUnder } from '../../domain/reseal.ts'
import type { Panel } from '../../panel.ts'

/** What `secrets:reseal` is given; with `check` nothing is changed. */
export const SecretsResealing = () => z.object({ check: z.boolean() })

export type ResealingReport = {
  /** Id of the key that seals. */
  newest: string
  /** Null where only was counted. */
  done: Resealed[] | null
  columns: SealedUnder[]
  /** How many secrets other keys are needed for, by their ids. */
  left: Record<string, number>
}

/** Everything is sealed with the newest key, but for what does not open; how secrets stand under keys afterwards. */
export async function resealSecrets(
  panel: Panel,
  { check }: z.output<ReturnType<typeof SecretsResealing>>,
): Promise<ResealingReport> {
  const newest = panel.keys[0]?.id ?? ''
  const done = check ? null : await reseal(panel)
  const columns = await countSealed(panel)
  const left: Record<string, number> = {}
  for (const [id, count] of columns.flatMap(({ keys }) => Object.entries(keys)))
    if (id !== newest) left[id] = (left[id] ?? 0) + count
  return { newest, done, columns, left }
}
