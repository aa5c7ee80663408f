import * as z from 'zod'
import { type Acl, aclResources } from '../../db/tables/api-keys.ts'
import { fullAcl } from '../../domain/auth/access-levels.ts'
import { isAdministrator } from '../../domain/auth/administrators.ts'
import { addApiKey } from '../../domain/auth/api-keys.ts'
import { isAddressRange } from '../../ip-addresses.ts'
import type { Panel } from '../../panel.ts'
import { OperationError } from '../faults.ts'
import { findUserNamed } from '../find-by-name.ts'

/** The input of `key:create`; `user` is an id, user name or e-mail address. */
export const KeyCreateInput = () =>
  z.object({
    user: z.string().min(1, 'required'),
    type: z.enum(['account', 'application']),
    description: z.string().max(500, 'max').nullish(),
    allowed_ips: z.array(z.string().refine(isAddressRange, 'ip')).max(50, 'max').nullish(),
    acl: z.partialRecord(z.enum(aclResources), z.literal([0, 1, 2, 3])).nullish(),
  })
type KeyCreateInput = z.output<ReturnType<typeof KeyCreateInput>>

export type CreatedKey = {
  /** The bearer token. */
  token: string
  identifier: string
  type: KeyCreateInput['type']
  user: { id: number; username: string }
  description: string
  allowed_ips: string[]
  /** Access levels of an Application key. */
  acl?: Acl
}

/**
 * Adds a key to an account. An Application key without levels has full access. Throws when the account does not exist,
 * for an Application key of a user who is not an administrator, and for levels on an account key.
 */
export async function createKey(panel: Panel, input: KeyCreateInput): Promise<CreatedKey> {
  const { type, description, acl } = input
  const user = await findUserNamed(panel, input.user)
  if (type === 'account' && acl) throw new OperationError('Only an Application key has access levels.')
  if (type === 'application' && !isAdministrator(user))
    throw new OperationError(`${user.username} is not an administrator and cannot use an Application key.`)
  const levels = type === 'application' ? { acl: acl ?? fullAcl() } : {}
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
