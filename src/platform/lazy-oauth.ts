import type { Egress } from '../adapters/egress.ts'
import type { OauthGateway } from '../adapters/oauth.ts'

/** Returns the gateway to sign-in providers, whose libraries are loaded with its first use: few users sign in by them. */
export function lazyOauth({ fetch: send }: Egress): OauthGateway {
  let loaded: OauthGateway | null = null
  const gateway = async () => {
    const { httpOauth } = await import('../adapters/oauth.ts')
    return (loaded ??= httpOauth(send))
  }
  return {
    authorizationUrl: async (...input) => (await gateway()).authorizationUrl(...input),
    identify: async (...input) => (await gateway()).identify(...input),
  }
}
