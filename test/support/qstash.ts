import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type QueueMessage = { url: string; body: string; headers: Record<string, unknown> }
export type QstashStandIn = {
  url: string
  /** What was published, oldest first; it is delivered to nobody. */
  messages: QueueMessage[]
  close: () => Promise<void>
}

/** Takes messages as QStash does and keeps them. */
export async function startQstash(): Promise<QstashStandIn> {
  const messages: QueueMessage[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const target = /^\/v2\/publish\/(.+)$/.exec(request.url ?? '')?.[1]
      const body = await text(request)
      if (target) messages.push({ url: target, body, headers: request.headers })
      const answer = target ? { messageId: `msg_${messages.length}` } : []
      response
        .writeHead(target ? 201 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer))
    })()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
