import { only } from '../db/database.ts'
import { apiKeys } from '../db/schema.ts'
import type { Acl, ApiKey } from '../db/tables/api-keys.ts'
import type { Panel } from '../panel.ts'
import { digest, randomText } from './secrets.ts'

export type ApiKeyInput = {
  type: ApiKey['type']
  description: string
  allowedIps?: string[]
  /** Levels of an Application key. */
  acl?: Acl
}

/** Adds a key to an account. `secret` is the second part of the bearer token and is not kept: it is shown once. */
export async function addApiKey(
  panel: Panel,
  user: { id: number },
  input: ApiKeyInput,
): Promise<{ key: ApiKey; secret: string }> {
  const secret = randomText(32)
  const key = only(
    await panel.db
      .insert(apiKeys)
      .values({
        userId: user.id,
        type: input.type,
        identifier: (input.type === 'account' ? 'ptlc_' : 'ptla_') + randomText(11),
        secretHash: await digest(secret),
        description: input.description,
        allowedIps: input.allowedIps ?? [],
        acl: input.acl ?? {},
      })
      .returning(),
  )
  return { key, secret }
}
