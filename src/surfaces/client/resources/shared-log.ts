import * as z from 'zod'
import type { SharedLog } from '../../../domain/servers/console-share.ts'

/** The link to a shared log, without an envelope. */
export const SharedLogLink = () => z.object({ url: z.url({ protocol: /^https?$/ }), expires_in: z.int() })

/** Presents the URL of a shared log and its lifetime in seconds. */
export const presentSharedLog = ({ url, expiresIn }: SharedLog) => ({ url, expires_in: expiresIn })
