import * as z from 'zod'
import { describeEmail } from '../../../domain/accounts/email-claims.ts'
import { resource } from '../../../http/resource.ts'

/** The caller's address. Spec: docs/accounts.md#verified-addresses. */
export const EmailAddressResource = resource(
  'email_address',
  () =>
    z.object({
      email: z.string(),
      status: z
        .enum(['verified', 'unverified', 'released'])
        .describe('`released`: another account verified the address, and `email` is a placeholder'),
      pending_email: z.string().nullable().describe('Becomes the address when its link is followed'),
    }),
  describeEmail,
)
