import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context, MiddlewareHandler } from 'hono'
import { parseAccept } from 'hono/utils/accept'
import { setAnswerHeader } from '../http/answer-headers.ts'
import { sentJson } from '../http/json-text.ts'

/** Bytes from which an answer is compressed. */
const minBytes = 1024

/** What is compressed: documents that are complete when they are sent. Files, streams and tables are not. */
const compressibleType = /^(?:application\/json|text\/html)\b/i

type Encoding = 'br' | 'gzip'

/** The encodings in the order of preference. Levels that cost milliseconds. */
const encoders: Record<Encoding, (body: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) as Promise<
      Buffer<ArrayBuffer>
    >,
  gzip: (body) => promisify(gzip)(body, { level: 6 }) as Promise<Buffer<ArrayBuffer>>,
}

/**
 * Compresses JSON and HTML from 1 KiB with Brotli or gzip, as the caller accepts it, where the platform does not.
 * Leaves alone what is compressed already, parts of a file, and answers that another site could measure.
 * Spec: docs/security.md#compressed-answers.
 */
export const compressAnswers: MiddlewareHandler = async (c, next) => {
  await next()
  const sent = sentJson(c)
  if (sent === 'fixed') return
  // Reading the headers of an answer costs more than the rest of a short one.
  if (sent === 'compressible' && c.req.header('accept-encoding') === undefined) {
    if (c.req.method !== 'HEAD') setAnswerHeader(c, 'vary', 'Accept-Encoding')
    return
  }
  if (!isCompressible(c)) return
  // Not by `c.header`, which would make another answer of a body that is a stream.
  c.res.headers.set('vary', varyOf(c.res.headers.get('vary')))
  const encoding = acceptedEncoding(c.req.header('accept-encoding'))
  if (encoding === null || isMeasurable(c)) return
  const body = new Uint8Array(await c.res.arrayBuffer())
  const isLarge = body.byteLength >= minBytes
  const answer = new Response(isLarge ? await encoders[encoding](body) : body, c.res)
  answer.headers.delete('content-length')
  if (isLarge) answer.headers.set('content-encoding', encoding)
  // Else the headers of both answers would be merged.
  c.res = undefined
  c.res = answer
}

function isCompressible(c: Context): boolean {
  // Without the body, which would become a stream.
  const { status, headers } = c.res
  return (
    c.req.method !== 'HEAD' &&
    status !== 206 &&
    !headers.has('content-encoding') &&
    !headers.has('transfer-encoding') &&
    !headers.has('content-range') &&
    !headers.has('etag') &&
    !/\bno-transform\b/i.test(headers.get('cache-control') ?? '') &&
    compressibleType.test(headers.get('content-type') ?? '')
  )
}

/**
 * Whether another site made the browser send the request with the cookie of its user. It could choose a part of the
 * answer, and learn the rest from the length of many (BREACH). Callers without cookies send their requests themselves.
 */
function isMeasurable(c: Context): boolean {
  const site = c.req.header('sec-fetch-site')
  return c.req.header('cookie') !== undefined && site !== 'same-origin' && site !== 'none'
}

/** Returns the encoding that the caller prefers, of equal ones Brotli; null without one. */
function acceptedEncoding(header: string | undefined): Encoding | null {
  if (header === undefined) return null
  const accepted = parseAccept(header)
  const quality = (encoding: Encoding) =>
    (
      accepted.find(({ type }) => type.toLowerCase() === encoding) ??
      accepted.find(({ type }) => type === '*')
    )?.q ?? 0
  const best: Encoding = quality('gzip') > quality('br') ? 'gzip' : 'br'
  return quality(best) > 0 ? best : null
}

const varyOf = (current: string | null): string =>
  current === null || /\baccept-encoding\b|\*/i.test(current)
    ? (current ?? 'Accept-Encoding')
    : `${current}, Accept-Encoding`
