import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Profile } from './daemon.ts'

/** The claims of a signed token that the daemon uses. Times are in whole seconds. */
export type TokenClaims = {
  exp: number
  iat: number | undefined
  jti: string | undefined
  sub: string | undefined
  scope: string | undefined
  server_uuid: string | undefined
  user_uuid: string | undefined
  file_path: string | undefined
  backup_uuid: string | undefined
  unique_id: string | undefined
  permissions: string[]
}

/** A refusal whose message is part of the protocol: browsers match on it. */
export class JwtError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'JwtError'
  }
}

export const jwtMessages = {
  missing: 'jwt: no jwt present',
  noConnect: 'jwt: missing connect permission',
  wrongServer: 'jwt: server uuid mismatch',
  denied: 'jwt: created too far in past (denylist)',
  expired: 'jwt: exp claim is invalid',
} as const

/**
 * Verifies an HS256 token with the node secret and gives its claims. Throws a JwtError when `exp` is absent or past
 * and a plain Error for any other defect, such as a fractional time. Wings: docs/wings.md#signed-tokens.
 */
export function verifyToken(token: string, secret: string, now = Date.now()): TokenClaims {
  const [header = '', payload = '', signature = '', ...rest] = token.split('.')
  if (rest.length > 0 || !isSigned(`${header}.${payload}`, signature, secret))
    throw new Error('bad signature')
  const { alg } = decodePart(header)
  if (alg !== 'HS256') throw new Error('unexpected algorithm')
  const claims = decodePart(payload)
  const exp = readSeconds(claims['exp'])
  const iat = readSeconds(claims['iat'])
  readSeconds(claims['nbf'])
  if (exp === undefined || isExpired(exp, now)) throw new JwtError(jwtMessages.expired)
  const permissions = Array.isArray(claims['permissions']) ? claims['permissions'] : []
  return {
    exp,
    iat,
    jti: readText(claims['jti']),
    sub: readText(claims['sub']),
    scope: readText(claims['scope']),
    server_uuid: readText(claims['server_uuid']),
    user_uuid: readText(claims['user_uuid']),
    file_path: readText(claims['file_path']),
    backup_uuid: readText(claims['backup_uuid']),
    unique_id: readText(claims['unique_id']),
    permissions: permissions.filter((entry) => typeof entry === 'string'),
  }
}

/** Checks whether a token has expired; `exp` is in seconds. */
export function isExpired(exp: number, now = Date.now()): boolean {
  return Math.floor(now / 1_000) >= exp
}

/** Checks whether a token has a scope; Wings 1.11 ignores scopes. */
export function hasScope(claims: TokenClaims, scope: string, profile: Profile): boolean {
  return profile === '1.11' || (claims.scope ?? '').split(' ').includes(scope)
}

/** Checks whether a token has a permission; `*` covers all but those that begin with `admin`. */
export function hasPermission(claims: TokenClaims, permission: string): boolean {
  if (claims.permissions.includes(permission)) return true
  return !permission.startsWith('admin') && claims.permissions.includes('*')
}

function isSigned(content: string, signature: string, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(content).digest()
  const given = Buffer.from(signature, 'base64url')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function decodePart(part: string): Record<string, unknown> {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  if (typeof value !== 'object' || value === null) throw new Error('a token part is not an object')
  return value as Record<string, unknown>
}

function readSeconds(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  if (!Number.isInteger(value)) throw new Error('a time claim is not a whole number')
  return value as number
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
