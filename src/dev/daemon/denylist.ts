import type { Profile } from './daemon.ts'
import type { TokenClaims } from './token.ts'

export type Denylist = {
  /** Refuses tokens with this `jti` that were issued before now. Wings: POST /api/servers/{uuid}/ws/deny */
  denyToken: (jti: string) => void
  /** Refuses a user's tokens for one server that were issued until now. Wings: POST /api/deauthorize-user */
  denyUser: (user: string, server: string) => void
  isDenied: (claims: TokenClaims, server: string) => boolean
}

/** Creates the list of revoked tokens, in memory. After a restart every older token is refused by its `iat`. */
export function createDenylist(startedAt: number, profile: Profile): Denylist {
  const denied = new Map<string, number>()
  const startSecond = Math.floor(startedAt / 1_000)

  function isDeniedSince(key: string, issuedAt: number): boolean {
    const at = denied.get(key)
    if (at === undefined) return false
    return profile === '1.11' ? issuedAt * 1_000 < at : issuedAt * 1_000 <= at
  }

  return {
    denyToken: (jti) => denied.set(`token ${jti}`, Date.now()),
    denyUser: (user, server) => denied.set(`user ${user} ${server}`, Date.now()),
    isDenied: (claims, server) => {
      // Wings boots for seconds before it listens. This daemon listens at once, so a token of the second in
      // which it started is accepted.
      if (claims.iat === undefined || claims.iat < startSecond) return true
      if (isDeniedSince(`token ${claims.jti ?? ''}`, claims.iat)) return true
      return profile !== '1.11' && isDeniedSince(`user ${claims.user_uuid ?? ''} ${server}`, claims.iat)
    },
  }
}
