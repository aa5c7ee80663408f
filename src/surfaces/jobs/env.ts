import { createMiddleware } from 'hono/factory'
import { requireSigned } from '../../domain/queue-messages.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { stating } from '../../http/facts.ts'
import { bufferBody } from '../../http/json-body.ts'

const bodyLimit = 64 * 1024

/** The queue signed this message, for this address. Refuses with 401, whatever is wrong. */
export const queueSignature = stating(
  { kind: 'credential', name: 'queue signature' },
  createMiddleware<HttpEnv>(async (c, next) => {
    const { panel } = c.var
    const message = {
      signature: c.req.header('upstash-signature') ?? '',
      body: await bufferBody(c, bodyLimit),
      path: c.req.path,
      now: panel.now(),
    }
    await requireSigned(panel, message)
    c.set('panel', { ...panel, actor: { kind: 'system' } })
    await next()
  }),
)

/** Holds of every message that the queue signed. */
export const anyMessage = stating(
  { kind: 'permission', name: 'any signed message' },
  createMiddleware<HttpEnv>(async (_c, next) => next()),
)
