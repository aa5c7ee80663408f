import type { Context, MiddlewareHandler } from 'hono'
import { tooManyRequests, unavailable } from '../errors.ts'
import { causeOf, warnSeldom } from '../log.ts'
import type { Panel } from '../panel.ts'
import type { HttpEnv } from './environment.ts'
import { stating } from './facts.ts'

export type Throttle = {
  name: string
  /** Hits that are let through in one window. */
  limit: number | ((panel: Panel) => number)
  seconds: number
  /** Whose hits are counted together; null is not counted. */
  key: (c: Context<HttpEnv>) => string | null
  /** A larger group of them, whose hits together may be four times as many; null where there is none. */
  groupKey?: (c: Context<HttpEnv>) => string | null
  /** Whether nobody gets through while nobody can count; everybody does when left out. */
  isVital?: boolean
}

const groupFactor = 4

/**
 * Lets `limit` requests through per window and key, and says so in `X-RateLimit-*`. Refuses the
 * rest with 429 and `Retry-After`. While the cache is away nobody is refused, or with `isVital` everybody, with
 * 503.
 */
export function throttle(options: Throttle): MiddlewareHandler<HttpEnv> {
  const { name, seconds, isVital = false } = options
  const stated = typeof options.limit === 'number' ? options.limit : 0
  return stating({ kind: 'throttle', name, limit: stated, seconds }, async (c, next) => {
    const limit = typeof options.limit === 'number' ? options.limit : options.limit(c.var.panel)
    await take(c, name, options.key(c), { limit, seconds, isVital })
    await take(c, name, options.groupKey?.(c) ?? null, {
      limit: groupFactor * limit,
      seconds,
      isVital,
    })
    await next()
  })
}

async function take(
  c: Context<HttpEnv>,
  name: string,
  key: string | null,
  { limit, seconds, isVital }: { limit: number; seconds: number; isVital: boolean },
): Promise<void> {
  const { panel } = c.var
  if (key === null) return
  const window = await hit(panel, name, key, seconds)
  if (!window && isVital) throw unavailable('Nobody can count how often this is asked for right now.')
  if (!window) return
  const headers = rateLimitHeaders(limit, window.hits)
  if (window.hits > limit) {
    const resetsAt = Math.ceil(panel.now().getTime() / 1000) + window.resetsIn
    throw tooManyRequests(window.resetsIn, { ...headers, 'x-ratelimit-reset': String(resetsAt) })
  }
  showTightest(c, headers)
}

const rateLimitHeaders = (limit: number, hits: number) => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(Math.max(0, limit - hits)),
})

/** With several throttles in front of one route, the one with the least left is shown. */
function showTightest(c: Context<HttpEnv>, headers: ReturnType<typeof rateLimitHeaders>): void {
  const shown = c.res.headers.get('x-ratelimit-remaining')
  if (shown !== null && Number(shown) <= Number(headers['x-ratelimit-remaining'])) return
  for (const [header, value] of Object.entries(headers)) c.header(header, value)
}

async function hit(panel: Panel, name: string, key: string, seconds: number) {
  try {
    return await panel.cache.hit(`throttle:${name}:${key}`, seconds)
  } catch (error) {
    warnSeldom('Requests are not counted.', { throttle: name, cause: causeOf(error) })
    return null
  }
}
