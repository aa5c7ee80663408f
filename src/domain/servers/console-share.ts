import * as z from 'zod'
import { forbidden, unavailable } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { getSettings } from '../settings/settings.ts'
import { redact } from '../../redaction.ts'

/** Maximum bytes of a log in UTF-8. Spec: docs/servers.md#console-sharing. */
const maxLogBytes = 128 * 1024
/** Lifetime of the link in seconds. Spec: docs/servers.md#console-sharing. */
const linkLifetimeSeconds = 86_400

/** Maximum bytes of a body: JSON may take six bytes for each byte of the log. */
export const maxShareBodyBytes = 6 * maxLogBytes + 1024

/** The log to share. Spec: postClientServersByServerConsoleShare. */
export const ShareInput = () => z.object({ content: z.string().refine(isWithinLimit, 'max') })
type ShareInput = z.output<ReturnType<typeof ShareInput>>

const isWithinLimit = (text: string) =>
  text.length <= maxLogBytes && new TextEncoder().encode(text).byteLength <= maxLogBytes

/** URL of a shared log and its lifetime in seconds. */
export type SharedLog = { url: string; expiresIn: number }

/**
 * Redacts the log and uploads it to the configured service; the panel keeps no copy. Refuses with 403 while
 * sharing is off, with 503 when the service fails. Spec: postClientServersByServerConsoleShare.
 */
export async function shareLog(panel: Panel, { content }: ShareInput): Promise<SharedLog> {
  const settings = await getSettings(panel, ['features.console_share', 'console_share.url'])
  const service = settings['console_share.url']
  if (!settings['features.console_share'] || service === null)
    throw forbidden('log_sharing_off', 'Sharing logs is disabled.')
  const url = await panel.pastes.upload(service, redact(content)).catch((error: unknown) => {
    throw unavailable('log_not_shared', 'The log could not be shared. Try again shortly.', { cause: error })
  })
  return { url, expiresIn: linkLifetimeSeconds }
}
