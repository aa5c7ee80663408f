import { SignJWT } from 'jose'

/** What a token is good for. Wings refuses it for anything else. */
export type DaemonTokenScope = 'websocket' | 'file-upload' | 'file-download' | 'backup-download' | 'transfer'

export type DaemonTokenInput = {
  scope: DaemonTokenScope
  /** The node's secret, UTF-8 as it is. */
  secret: string
  issuer: string
  audience: string
  /** By which a daemon without `deauthorize-user` denies it. */
  jti: string
  issuedAt: Date
  lifetimeSeconds: number
  claims: Record<string, unknown>
}

/** A JWT which the node's daemon accepts. Times are whole seconds; `nbf` is five minutes back for skewed clocks. */
export function signDaemonToken(input: DaemonTokenInput): Promise<string> {
  const issuedAt = Math.floor(input.issuedAt.getTime() / 1000)
  return new SignJWT({
    ...input.claims,
    scope: input.scope,
    unique_id: crypto.randomUUID().replaceAll('-', ''),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', jti: input.jti })
    .setIssuer(input.issuer)
    .setAudience([input.audience])
    .setJti(input.jti)
    .setIssuedAt(issuedAt)
    .setNotBefore(issuedAt - 300)
    .setExpirationTime(issuedAt + input.lifetimeSeconds)
    .sign(new TextEncoder().encode(input.secret))
}
