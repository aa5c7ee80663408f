import type { ObjectEndpoint } from './endpoint.ts'

/** A request as the SDK hands it over once it is signed. */
type Outgoing = {
  method: string
  protocol: string
  hostname: string
  port?: number
  path: string
  query?: Record<string, string | string[] | null>
  headers: Record<string, string>
  body?: Uint8Array | string
}

/** Hands what an S3 client sends to an endpoint of this process, whether or not its address can be reached from here. */
export function inProcessHandler(endpoint: ObjectEndpoint) {
  return {
    handle: async (outgoing: Outgoing) => {
      const { method, headers, body } = outgoing
      const content = body === undefined || method === 'GET' || method === 'HEAD' ? null : body
      const answer = await endpoint(
        new Request(urlOf(outgoing), { method, headers, body: content as BodyInit | null }),
      )
      // The SDK reads a body even where there is none.
      const answered = answer.body ?? new Blob().stream()
      const headersAnswered = Object.fromEntries(answer.headers)
      return { response: { statusCode: answer.status, headers: headersAnswered, body: answered } }
    },
  }
}

function urlOf({ protocol, hostname, port, path, query = {} }: Outgoing): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values ?? ''].flat().map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
  )
  const search = pairs.length > 0 ? `?${pairs.join('&')}` : ''
  return `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}${search}`
}
