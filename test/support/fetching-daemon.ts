import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer } from './answers.ts'

export type FetchingDaemon = {
  readonly port: number
  /** The responses of the panel, oldest first. */
  readonly fetched: Answer[]
  close: () => Promise<void>
}

/** Starts a daemon that fetches the configuration of the server from the panel before it answers a call. Wings: docs/wings.md#servers-on-a-daemon */
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
