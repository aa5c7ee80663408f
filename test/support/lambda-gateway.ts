import type { HttpEvent, lambda } from '../../src/platform/lambda.ts'
import type { Answer } from './answers.ts'
import { answerFrom } from './raw-http.ts'

export type LambdaHandler = ReturnType<typeof lambda>
export type GatewayRequest = { headers?: Record<string, string>; body?: string; sourceIp: string }

/** Builds a request in payload format 2.0, as the HTTP API of a custom domain does. */
export function httpEvent(method: string, target: string, request: GatewayRequest): HttpEvent {
  const [rawPath = '/', ...query] = target.split('?')
  const { cookie, ...headers } = request.headers ?? {}
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString: query.join('?'),
    headers: { host: 'panel.example.com', ...headers },
    ...(cookie ? { cookies: cookie.split('; ') } : {}),
    body: request.body === undefined ? null : Buffer.from(request.body).toString('base64'),
    isBase64Encoded: request.body !== undefined,
    requestContext: {
      domainName: 'panel.example.com',
      stage: '$default',
      http: {
        method,
        path: rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: request.sourceIp,
        userAgent: 'smoke',
      },
    } as HttpEvent['requestContext'],
  }
}

/** Calls the function and returns the response of the gateway. */
export async function callThroughGateway(
  handler: LambdaHandler,
  method: string,
  target: string,
  request: GatewayRequest,
): Promise<Answer> {
  const result = await handler(httpEvent(method, target, request))
  if (!result) throw new Error('The function answered nothing.')
  const body = result.isBase64Encoded ? Buffer.from(result.body, 'base64').toString() : result.body
  const cookies = result.cookies ? { 'set-cookie': result.cookies } : {}
  return answerFrom(result.statusCode, { ...result.headers, ...cookies }, body)
}
