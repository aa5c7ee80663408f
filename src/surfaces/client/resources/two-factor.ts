import * as z from 'zod'
import { resource } from '../../../http/resource.ts'

/** What an authenticator is set up with. */
export const TwoFactorSetup = () =>
  z.object({ data: z.object({ image_url_data: z.string(), secret: z.string() }) })

/** One-time codes for an account whose authenticator is lost, shown once. */
export const RecoveryTokensResource = resource(
  'recovery_tokens',
  () => z.object({ tokens: z.array(z.string()) }),
  (tokens: string[]) => ({ tokens }),
)
