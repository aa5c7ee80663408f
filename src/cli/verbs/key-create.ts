import * as z from 'zod'
import { isAddressRange } from '../../addresses.ts'
import { type Acl, aclResources } from '../../db/tables/api-keys.ts'
import { addApiKey } from '../../domain/api-keys.ts'
import type { Panel } from '../../panel.ts'
import { VerbError } from '../faults.ts'
import { findUserNamed } from '../named-rows.ts'

/** What `key:create` is given; `user` is an id, user name or e-mail address. */
export const KeyCreation = () =>
  z.object({
    user: z.string().min(1, 'required'),
    type: z.enum(['account', 'application']),
    description: z.string().max(500, 'max').nullish(),
    allowed_ips: z.array(z.string().refine(isAddressRange, 'ip')).max(50, 'max').nullish(),
    acl: z.partialRecord(z.enum(aclResources), z.literal([0, 1, 2, 3])).nullish(),
  })
type KeyCreation = z.output<ReturnType<typeof KeyCreation>>

export type CreatedKey = {
  /** The whole bearer token. */
  token: string
  identifier: string
  type: KeyCreation['type']
  user: { id: number; username: string }
  description: string
  allowed_ips: string[]
  /** Levels of an Application key. */
  acl?: Acl
}

/**
 * Adds a key to an account. An Application key without levels may do everything. Refuses an account
 * that does not exist, an Application key for anybody but an administrator, and levels on an account key.
 */
export async function createKey(panel: Panel, input: KeyCreation): Promise<CreatedKey> {
  const { type, description, acl } = input
  const user = await findUserNamed(panel, input.user)
  if (type === 'account' && acl) throw new VerbError('Only an Application key has levels.')
  if (type === 'application' && !user.rootAdmin)
    throw new VerbError(`${user.username} is no administrator: an Application key would be of no use.`)
  const levels = type === 'application' ? { acl: acl ?? everything() } : {}
  const { key, secret } = await addApiKey(panel, user, {
    type,
    description: description ?? '',
    allowedIps: input.allowed_ips ?? [],
    ...levels,
  })
  return {
    token: key.identifier + secret,
    identifier: key.identifier,
    type: key.type,
    user: { id: user.id, username: user.username },
    description: key.description,
    allowed_ips: key.allowedIps,
    ...levels,
  }
}

const everything = (): Acl => Object.fromEntries(aclResources.map((resource) => [resource, 3 as const]))
