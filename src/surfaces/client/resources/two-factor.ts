import * as z from 'zod'
import { resource } from '../../../http/resource.ts'

/** The secret for an authenticator, with its QR code URI. */
export const TwoFactorSetup = () =>
  z.object({ data: z.object({ image_url_data: z.string(), secret: z.string() }) })

/** Recovery tokens for an account whose authenticator is lost, shown once. */
export const RecoveryTokensResource = resource(
  'recovery_tokens',
  () => z.object({ tokens: z.array(z.string()) }),
  (tokens: string[]) => ({ tokens }),
)
