import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A span as it arrived: ids in hexadecimal, attributes of the span and of what sent it as text. */
export type ReceivedSpan = {
  traceId: string
  spanId: string
  parentId: string
  traceState: string
  name: string
  kind: number
  attributes: Record<string, string>
  resource: Record<string, string>
  events: { name: string; attributes: Record<string, string> }[]
  /** 2 is an error. */
  status: number
}

/** Receives traces by OTLP over HTTP. `port` 0 takes any. */
export async function startOtlpReceiver(port = 0) {
  const spans: ReceivedSpan[] = []
  const requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = []
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      requests.push({ path: request.url ?? '', headers: request.headers, body })
      spans.push(...readSpans(body))
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const { port: taken } = server.address() as AddressInfo
  return {
    port: taken,
    url: `http://127.0.0.1:${taken}`,
    spans,
    requests,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A message of protobuf: its fields by number, each as it stands. */
type Fields = Map<number, (Buffer | bigint)[]>

/** Reads a message. Source: Protocol Buffers, encoding. */
function readFields(bytes: Buffer): Fields {
  const fields: Fields = new Map()
  let at = 0
  const readNumber = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at] ?? 0
      at += 1
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  const take = (length: number) => bytes.subarray(at, (at += length))
  while (at < bytes.length) {
    const key = Number(readNumber())
    const kind = key & 7
    const value = kind === 0 ? readNumber() : take(kind === 1 ? 8 : kind === 5 ? 4 : Number(readNumber()))
    fields.set(key >> 3, [...(fields.get(key >> 3) ?? []), value])
  }
  return fields
}

const messages = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).map((value) => readFields(value as Buffer))
const bytesOf = (fields: Fields, number: number) => (fields.get(number)?.[0] ?? Buffer.alloc(0)) as Buffer
const numberOf = (fields: Fields, number: number) => Number(fields.get(number)?.[0] ?? 0)
const textOf = (fields: Fields, number: number) => bytesOf(fields, number).toString()
const idOf = (fields: Fields, number: number) => bytesOf(fields, number).toString('hex')

/** Reads `KeyValue`s, whose values here are texts (1), truths (2) and whole numbers (3). */
const attributesOf = (fields: Fields, number: number): Record<string, string> =>
  Object.fromEntries(
    messages(fields, number).map((pair) => {
      const [value] = messages(pair, 2)
      const whole = value?.get(3)?.[0] ?? value?.get(2)?.[0]
      return [textOf(pair, 1), whole === undefined ? (value ? textOf(value, 1) : '') : String(whole)]
    }),
  )

/** Reads the spans of an `ExportTraceServiceRequest`. Source: opentelemetry-proto, trace/v1/trace.proto. */
const readSpans = (body: Buffer): ReceivedSpan[] =>
  messages(readFields(body), 1).flatMap((resourceSpans) => {
    const [sender] = messages(resourceSpans, 1)
    const resource = sender ? attributesOf(sender, 1) : {}
    return messages(resourceSpans, 2)
      .flatMap((scope) => messages(scope, 2))
      .map((span) => ({
        traceId: idOf(span, 1),
        spanId: idOf(span, 2),
        parentId: idOf(span, 4),
        traceState: textOf(span, 3),
        name: textOf(span, 5),
        kind: numberOf(span, 6),
        attributes: attributesOf(span, 9),
        resource,
        events: messages(span, 11).map((event) => ({
          name: textOf(event, 2),
          attributes: attributesOf(event, 3),
        })),
        status: messages(span, 15).map((status) => numberOf(status, 3))[0] ?? 0,
      }))
  })
