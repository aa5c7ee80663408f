import * as z from 'zod'
import { resource } from '../../../http/resource.ts'

/** An address that is good for one use and a short while. */
export const SignedUrl = resource(
  'signed_url',
  () => z.object({ url: z.url({ protocol: /^https?$/ }) }),
  (url: string) => ({ url }),
)
