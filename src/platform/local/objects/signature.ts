import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { S3Error, notImplemented } from './s3-error.ts'

/** A request as its signature sees it: `path` with and `query` without percent signs, names of headers in small letters. */
export type SignedRequest = {
  method: string
  host: string
  path: string
  query: [name: string, value: string][]
  headers: Headers
}

export type Credentials = { accessKeyId: string; secretAccessKey: string; region: string }

type Claim = {
  credential: string
  signedHeaders: string[]
  signature: string
  /** `20260102T030405Z` */
  time: string
  payload: string
  query: SignedRequest['query']
}

const algorithm = 'AWS4-HMAC-SHA256'
const longestLife = 7 * 24 * 3600
/** Seconds that two clocks may differ. */
const skew = 15 * 60

/**
 * Whether the holder of the credentials signed this request, by its link or by a header, for now (milliseconds).
 * Gives what the body has to hash to (SHA-256, hexadecimal), null where nothing was said. Refuses with 403.
 */
export function checkSignature(
  request: SignedRequest,
  credentials: Credentials,
  now: number,
): { sha256: string | null } {
  const isLink = request.query.some(([name]) => name === 'X-Amz-Signature')
  const claim = isLink ? claimOfLink(request, now) : claimOfHeader(request, now)
  const day = claim.time.slice(0, 8)
  const scope = `${day}/${credentials.region}/s3/aws4_request`
  const [keyId, ...given] = claim.credential.split('/')
  if (keyId !== credentials.accessKeyId)
    throw new S3Error(403, 'InvalidAccessKeyId', 'Nobody here has this access key.')
  if (given.join('/') !== scope) throw denied('The scope of the credential is not that of this store.')
  const text = [algorithm, claim.time, scope, hash(canonical(request, claim))].join('\n')
  const key = [day, credentials.region, 's3', 'aws4_request'].reduce<Buffer | string>(
    hmac,
    `AWS4${credentials.secretAccessKey}`,
  )
  if (!isSame(claim.signature, hmac(key, text).toString('hex'))) {
    throw new S3Error(403, 'SignatureDoesNotMatch', 'The signature is not the one of this request.')
  }
  return { sha256: claim.payload === 'UNSIGNED-PAYLOAD' ? null : claim.payload }
}

function claimOfLink({ query }: SignedRequest, now: number): Claim {
  const values = new Map(query)
  const value = (name: string) => values.get(`X-Amz-${name}`) ?? ''
  const life = Number(value('Expires'))
  const time = value('Date')
  if (value('Algorithm') !== algorithm || !Number.isInteger(life) || life < 1 || life > longestLife)
    throw denied('The link is not signed as links are.')
  const age = (now - readTime(time)) / 1000
  if (age < -skew) throw denied('The link is not valid yet.')
  if (age > life) throw denied('The link has expired.')
  return {
    credential: value('Credential'),
    signedHeaders: readNames(value('SignedHeaders'), ['host']),
    signature: value('Signature'),
    time,
    payload: 'UNSIGNED-PAYLOAD',
    query: query.filter(([name]) => name !== 'X-Amz-Signature'),
  }
}

function claimOfHeader({ headers, query }: SignedRequest, now: number): Claim {
  const [scheme, ...rest] = (headers.get('authorization') ?? '').split(/[ ,]+/)
  if (scheme !== algorithm) throw denied('The request is not signed.')
  const values = new Map(rest.map((part) => [part.slice(0, part.indexOf('=')), part]))
  const value = (name: string) => values.get(name)?.slice(name.length + 1) ?? ''
  const time = headers.get('x-amz-date') ?? ''
  const payload = headers.get('x-amz-content-sha256') ?? ''
  if (payload.startsWith('STREAMING-')) throw notImplemented('bodies in signed chunks')
  if (payload !== 'UNSIGNED-PAYLOAD' && !/^[\da-f]{64}$/.test(payload))
    throw denied('The request does not say what its body is.')
  if (Math.abs(now - readTime(time)) > skew * 1000)
    throw new S3Error(403, 'RequestTimeTooSkewed', 'The clock of the request is not that of the store.')
  return {
    credential: value('Credential'),
    signedHeaders: readNames(value('SignedHeaders'), ['host', 'x-amz-content-sha256', 'x-amz-date']),
    signature: value('Signature'),
    time,
    payload,
    query,
  }
}

function readNames(text: string, needed: string[]): string[] {
  const names = text.split(';')
  if (!needed.every((name) => names.includes(name))) throw denied('The signature leaves out too much.')
  return names
}

/** Milliseconds since 1970. */
function readTime(text: string): number {
  const [, day = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(text) ?? []
  const read = Date.parse(
    `${day.replace(/(....)(..)(..)/, '$1-$2-$3')}T${time.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`,
  )
  if (Number.isNaN(read)) throw denied('The request does not say when it was signed.')
  return read
}

function canonical(request: SignedRequest, { signedHeaders, payload, query }: Claim): string {
  const pairs = query.map(([name, value]) => `${encode(name)}=${encode(value)}`)
  const valueOf = (name: string) =>
    name === 'host' ? request.host : (request.headers.get(name) ?? '').replace(/ +/g, ' ')
  return [
    request.method,
    request.path.split('/').map(encode).join('/'),
    pairs.toSorted().join('&'),
    ...signedHeaders.map((name) => `${name}:${valueOf(name)}`),
    '',
    signedHeaders.join(';'),
    payload,
  ].join('\n')
}

const encode = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()
const denied = (message: string) => new S3Error(403, 'AccessDenied', message)

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
