import type { Context, MiddlewareHandler } from 'hono'
import { tooManyRequests, unavailable } from '../errors.ts'
import { causeOf, warnOncePerMinute } from '../log.ts'
import type { Panel } from '../panel.ts'
import type { HttpEnv } from './http-env.ts'
import { setAnswerHeader } from './answer-headers.ts'
import { withMetadata } from './metadata.ts'

export type Throttle<Env extends HttpEnv> = {
  name: string
  /** Requests let through per window and key; the operator configures the limit when it is a function. */
  limit: number | ((panel: Panel) => number)
  /** Length of the window. */
  seconds: number
  /** Requests with the same key are counted together; null is not counted. */
  key: (c: Context<Env>) => string | null
  /** Groups keys: a group may send four times the limit. Null where there is no group. */
  groupKey?: (c: Context<Env>) => string | null
  /** Refuses every request while the cache is unavailable, in place of letting all through. */
  failsClosed?: boolean
}

const groupLimitFactor = 4

/**
 * Limits requests per window and key, and reports it in `X-RateLimit-*`. Refuses with 429 and `Retry-After` above
 * the limit, and with 503 while the cache is unavailable if `failsClosed`.
 */
export function throttle<Env extends HttpEnv = HttpEnv>(options: Throttle<Env>): MiddlewareHandler<Env> {
  const { name, limit, seconds, failsClosed = false } = options
  const declaredLimit = typeof limit === 'number' ? limit : 'configured'
  return withMetadata<MiddlewareHandler<Env>>(
    { kind: 'throttle', name, limit: declaredLimit, seconds },
    async (c, next) => {
      const currentLimit = typeof limit === 'number' ? limit : limit(c.get('panel'))
      const window = { name, seconds, failsClosed }
      await countHit(c, options.key(c), { ...window, limit: currentLimit })
      const group = options.groupKey?.(c) ?? null
      if (group !== null) await countHit(c, group, { ...window, limit: groupLimitFactor * currentLimit })
      await next()
    },
  )
}

async function countHit<Env extends HttpEnv>(
  c: Context<Env>,
  key: string | null,
  {
    name,
    limit,
    seconds,
    failsClosed,
  }: { name: string; limit: number; seconds: number; failsClosed: boolean },
): Promise<void> {
  if (key === null) return
  const panel = c.get('panel')
  const window = await recordHit(panel, name, key, seconds)
  if (!window && failsClosed)
    throw unavailable('rate_limiting_unavailable', 'Rate limiting is unavailable. Try again shortly.')
  if (!window) return
  const headers = rateLimitHeaders(limit, window.hits)
  if (window.hits > limit) {
    const resetsAt = Math.ceil(panel.now().getTime() / 1000) + window.resetsInSeconds
    throw tooManyRequests(window.resetsInSeconds, { ...headers, 'x-ratelimit-reset': String(resetsAt) })
  }
  setTightestHeaders(c as Context, headers)
}

const rateLimitHeaders = (limit: number, hits: number) => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(Math.max(0, limit - hits)),
})

/** With several throttles in front of one route, reports the one with the fewest requests left. */
function setTightestHeaders(c: Context<HttpEnv>, headers: ReturnType<typeof rateLimitHeaders>): void {
  const remaining = Number(headers['x-ratelimit-remaining'])
  if ((c.get('remainingRequests') ?? Infinity) <= remaining) return
  c.set('remainingRequests', remaining)
  for (const [header, value] of Object.entries(headers)) setAnswerHeader(c, header, value)
}

async function recordHit(panel: Panel, name: string, key: string, seconds: number) {
  try {
    return await panel.cache.hit(`throttle:${name}:${key}`, seconds)
  } catch (error) {
    warnOncePerMinute('Requests are not counted.', { throttle: name, cause: causeOf(error) })
    return null
  }
}
