import * as z from 'zod'
import type { SshKey } from '../../../db/tables/ssh-keys.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'

/** A public key for SFTP as PEM; the fingerprint is what `ssh-keygen -l` shows after `SHA256:`. */
export const SshKeyResource = resource(
  'ssh_key',
  () =>
    z.object({
      name: z.string(),
      fingerprint: z.string().length(43),
      public_key: z.string(),
      created_at: Timestamp(),
    }),
  (row: SshKey) => ({
    name: row.name,
    fingerprint: row.fingerprint,
    public_key: row.publicKey,
    created_at: timestamp(row.createdAt),
  }),
)
