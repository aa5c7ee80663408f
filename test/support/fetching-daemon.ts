import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer } from './answers.ts'

export type FetchingDaemon = {
  readonly port: number
  /** What the panel answered, oldest first. */
  readonly fetched: Answer[]
  close: () => Promise<void>
}

/** A daemon that asks the panel for the server's configuration before it answers a call. Wings: sync */
export async function startFetchingDaemon(fetch: (uuid: string) => Promise<Answer>): Promise<FetchingDaemon> {
  const fetched: Answer[] = []
  const http = createServer((request, response) => {
    const uuid = request.url?.split('/')[3] ?? ''
    void fetch(uuid).then((answer) => {
      fetched.push(answer)
      response.writeHead(answer.status === 200 ? 204 : 500).end()
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    port: (http.address() as AddressInfo).port,
    fetched,
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}
