import { createMiddleware } from 'hono/factory'
import { requireQueueSignature } from '../../domain/jobs/queue-messages.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { declarePermission, withMetadata } from '../../http/metadata.ts'
import { bufferBody } from '../../http/request-body.ts'

const bodyLimit = 64 * 1024

/** Requires the queue's signature over body and path. Refuses with 401, whatever is wrong. */
export const queueSignature = withMetadata(
  { kind: 'credential', name: 'queue signature' },
  createMiddleware<HttpEnv>(async (c, next) => {
    const { panel } = c.var
    const message = {
      signature: c.req.header('upstash-signature') ?? '',
      body: await bufferBody(c, bodyLimit),
      path: c.req.path,
      now: panel.now(),
    }
    await requireQueueSignature(panel, message)
    c.set('panel', { ...panel, actor: { kind: 'system' } })
    await next()
  }),
)

/** Declares that every message the queue signed may call. */
export const anySignedMessage = declarePermission('any signed message')
