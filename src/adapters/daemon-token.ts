/** The purpose of a token. Wings refuses it for any other. */
export type DaemonTokenScope = 'websocket' | 'file-upload' | 'file-download' | 'backup-download' | 'transfer'

export type DaemonTokenInput = {
  scope: DaemonTokenScope
  /** The node's secret, used as UTF-8. */
  secret: string
  issuer: string
  audience: string
  /** The id by which a daemon denies the token. */
  jti: string
  issuedAt: Date
  lifetimeSeconds: number
  claims: Record<string, unknown>
}

/** Signs a JWT for the daemon of a node. Times are whole seconds; `nbf` is five minutes in the past for skewed clocks. */
export async function signDaemonToken(input: DaemonTokenInput): Promise<string> {
  const { SignJWT } = await import('jose/jwt/sign')
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
