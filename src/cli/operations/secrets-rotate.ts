import * as z from 'zod'
import {
  countSecretsByKey,
  rotateKeys,
  type RotatedColumn,
  type SecretsByKey,
} from '../../domain/operations/rotate-keys.ts'
import type { Panel } from '../../panel.ts'

/** The input of `secrets:rotate`; with `check` nothing is changed. */
export const SecretsRotateInput = () => z.object({ check: z.boolean() })

export type RotationReport = {
  /** Id of the key that encrypts. */
  newest: string
  /** Null with `check`. */
  done: RotatedColumn[] | null
  columns: SecretsByKey[]
  /** Number of secrets that need another key, by its id. */
  left: Record<string, number>
}

/** Encrypts every secret that can be decrypted with the newest key, and counts the secrets under each key afterwards. */
export async function rotateSecrets(
  panel: Panel,
  { check }: z.output<ReturnType<typeof SecretsRotateInput>>,
): Promise<RotationReport> {
  const newest = panel.keys[0]?.id ?? ''
  const done = check ? null : await rotateKeys(panel)
  const columns = await countSecretsByKey(panel)
  const left: Record<string, number> = {}
  for (const [id, count] of columns.flatMap(({ keys }) => Object.entries(keys)))
    if (id !== newest) left[id] = (left[id] ?? 0) + count
  return { newest, done, columns, left }
}
