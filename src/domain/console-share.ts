import * as z from 'zod'
import { forbidden, unavailable } from '../errors.ts'
import type { Panel } from '../panel.ts'
import { redact } from './redaction.ts'
import { settingsOf } from './settings.ts'

/** Bytes of a log in UTF-8. Spec: Limits, console share. */
const longestLog = 128 * 1024
/** Seconds for which the link works. Spec: Limits, console share. */
const lifetime = 86_400

/** Bytes of a body with the longest log, written as JSON in its longest form: six bytes for each of the log's. */
export const shareBodyLimit = 6 * longestLog + 1024

/** Spec: Client API, server control: console/share. */
export const ShareInput = () => z.object({ content: z.string().refine(isShort, 'max') })
type ShareInput = z.output<ReturnType<typeof ShareInput>>

const isShort = (text: string) =>
  text.length <= longestLog && new TextEncoder().encode(text).byteLength <= longestLog

/** Where a shared log is, and for how many seconds. */
export type SharedLog = { url: string; expiresIn: number }

/**
 * The log is published, redacted, and nothing of it is kept here. Refuses with 403 while sharing is switched
 * off, with 503 when the service does not take it. Spec: Client API, server control: console/share.
 */
export async function shareLog(panel: Panel, { content }: ShareInput): Promise<SharedLog> {
  const settings = await settingsOf(panel, ['features.console_share', 'console_share.url'])
  const service = settings['console_share.url']
  if (!settings['features.console_share'] || service === null)
    throw forbidden('Sharing logs is switched off.')
  const url = await panel.pastes.upload(service, redact(content)).catch((error: unknown) => {
    throw unavailable('The service for shared logs did not take this one.', error)
  })
  return { url, expiresIn: lifetime }
}
