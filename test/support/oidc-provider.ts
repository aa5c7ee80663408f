import { fileURLToPath } from 'node:url'
import { OAuth2Server } from 'oauth2-mock-server'

const file = (name: string) => fileURLToPath(new URL(`certificates/${name}`, import.meta.url))

/** A certificate for localhost, made by openssl for tests alone; processes trust it by NODE_EXTRA_CA_CERTS. */
export const localhostCertificate = file('localhost.crt')

/** A provider of OpenID Connect at https://localhost, at which every user is `johndoe` and approves at once. */
export type OidcProvider = {
  url: string
  /** Makes the next authorization fail with `access_denied`. */
  refuseNext: () => void
  stop: () => Promise<void>
}

/** Starts a provider on a free port. */
export async function startOidcProvider(): Promise<OidcProvider> {
  const server = new OAuth2Server(file('localhost.key'), localhostCertificate)
  await server.issuer.keys.generate('RS256')
  await server.start(0, '127.0.0.1')
  return {
    url: String(server.issuer.url),
    refuseNext: () => {
      server.service.once('beforeAuthorizeRedirect', ({ url }: { url: URL }) => {
        url.searchParams.delete('code')
        url.searchParams.set('error', 'access_denied')
      })
    },
    stop: () => server.stop(),
  }
}
