import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { localhostCertificate } from '../../support/oidc-provider.ts'

/** Variables of a panel that may fetch from the repository. */
export const fetchesFromRepository = {
  NODE_EXTRA_CA_CERTS: localhostCertificate,
  FETCH_ALLOWED_NETWORKS: '127.0.0.0/8, ::1',
}

/** Stands for a repository of eggs on the web. */
export type EggRepository = {
  origin: string
  /** Documents by their path. */
  documents: Map<string, string>
  close: () => Promise<void>
}

/** Starts a repository without documents at https://localhost. */
export async function startEggRepository(): Promise<EggRepository> {
  const documents = new Map<string, string>()
  const [cert, key] = await Promise.all([
    readFile(localhostCertificate),
    readFile(localhostCertificate.replace(/crt$/, 'key')),
  ])
  const server = createServer({ cert, key }, ({ url = '' }, response) => {
    const document = documents.get(url)
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(document)
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    documents,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
