import * as z from 'zod'
import type { SharedLog } from '../../../domain/console-share.ts'

/** Schema of `presentSharedLog`: bare data, as the specification has it. */
export const SharedLogLink = () => z.object({ url: z.url({ protocol: /^https?$/ }), expires_in: z.int() })

/** Where a shared log is, and for how many seconds. */
export const presentSharedLog = ({ url, expiresIn }: SharedLog) => ({ url, expires_in: expiresIn })
