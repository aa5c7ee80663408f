import type { Context } from 'hono'
import { causeOf, log, originOf } from '../log.ts'
import type { HttpEnv } from './http-env.ts'
import { matchedRoute } from './matched-route.ts'

/**
 * Creates a body that reads a chunk whenever the caller has taken the one before, and stops when the caller hangs up.
 * A failure breaks the answer off and is logged.
 */
export function streamText(c: Context<HttpEnv>, chunks: AsyncGenerator<string>): ReadableStream {
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const text = await nextText(chunks)
        if (text === null) controller.close()
        else controller.enqueue(encoder.encode(text))
      } catch (error) {
        logFailure(c, error)
        controller.error(error)
      }
    },
    cancel: async () => void (await chunks.return(undefined)),
  })
}

/** Skips empty chunks, behind which nothing would ask for the next one. Returns null at the end. */
async function nextText(chunks: AsyncGenerator<string>): Promise<string | null> {
  for (;;) {
    const { done, value } = await chunks.next()
    if (done) return null
    if (value !== '') return value
  }
}

/** The status has been sent: the answer that breaks off and this line are all that tells of the failure. */
function logFailure(c: Context<HttpEnv>, error: unknown): void {
  log('error', 'An answer ended before its last line.', {
    request: c.var.panel.requestId,
    route: matchedRoute(c),
    ...(error instanceof Error ? originOf(error) : {}),
    cause: causeOf(error),
  })
}
