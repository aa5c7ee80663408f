import * as z from 'zod'
import { resource } from '../../../http/resource.ts'

/** A URL that is valid once and for a short time. */
export const SignedUrl = resource(
  'signed_url',
  () => z.object({ url: z.url({ protocol: /^https?$/ }) }),
  (url: string) => ({ url }),
)
