import type { Context } from 'hono'
import { cursorOf, type ExportPart } from '../../domain/activity/panel-activity.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { publicUrl } from '../../http/public-url.ts'
import { streamText } from '../../http/text-stream.ts'
import { type ExportFormat, exportFormats } from './resources/activity-log.ts'

type Parts = AsyncGenerator<ExportPart>

/**
 * Answers with an export. Where the platform streams, each part is read when the caller has taken the one before.
 * Where it sends whole answers, the export ends at its limit of bytes or time, and the header `Link` names the rest.
 */
export async function exportResponse(c: Context, format: ExportFormat, parts: Parts): Promise<Response> {
  const { maxResponseBytes } = c.var.panel.config
  const { contentType, header } = exportFormats[format]
  // Read before the answer begins, so that a failure has a status.
  const first = await parts.next()
  // A continued export is appended to the part before.
  const start = c.req.query('cursor') ? '' : header
  c.header('content-type', contentType)
  c.header('content-security-policy', "default-src 'none'; sandbox")
  c.header('content-disposition', `attachment; filename="activity.${format}"`)
  c.header('vary', 'accept')
  if (!maxResponseBytes) return c.body(streamText(c, chunksOf(format, start, first, parts)))
  const { text, next } = await collect(c, format, { start, first, parts }, maxResponseBytes)
  if (next !== null) c.header('link', `<${continuationUrl(c, format, next)}>; rel="next"`)
  return c.body(text)
}

const linesOf = (format: ExportFormat, { entries }: ExportPart): string =>
  entries.map(exportFormats[format].line).join('')

async function* chunksOf(
  format: ExportFormat,
  start: string,
  first: IteratorResult<ExportPart>,
  parts: Parts,
): AsyncGenerator<string> {
  yield start
  if (!first.done) yield linesOf(format, first.value)
  for await (const part of parts) yield linesOf(format, part)
}

type Collected = { text: string; next: string | null }

/** Collects entries until the limit of bytes or of time, but at least one; `next` is where the rest begins. */
async function collect(
  c: Context,
  format: ExportFormat,
  { start, first, parts }: { start: string; first: IteratorResult<ExportPart>; parts: Parts },
  maxBytes: number,
): Promise<Collected> {
  const { panel } = c.var
  const deadline = panel.now().getTime() + panel.config.maxWaitMs
  let [text, bytes] = [start, 0]
  for (let part = first; ; part = await parts.next()) {
    if (part.done) return { text, next: null }
    for (const entry of part.value.entries) {
      const line = exportFormats[format].line(entry)
      text += line
      bytes += Buffer.byteLength(line)
      if (bytes >= maxBytes) return { text, next: cursorOf(entry.entry) }
    }
    if (panel.now().getTime() >= deadline) return { text, next: part.value.next }
  }
}

function continuationUrl(c: Context, format: ExportFormat, cursor: string): string {
  const url = new URL(publicUrl(c as Context<HttpEnv>))
  url.searchParams.set('format', format)
  url.searchParams.set('cursor', cursor)
  return url.toString()
}
