import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parsePublicKey } from '../../src/domain/accounts/ssh-public-key.ts'
import recorded from './ssh-keys.json' with { type: 'json' }

/** Encodes a string as SSH does. */
const field = (content: string | Uint8Array) => {
  const bytes = Buffer.from(content as string)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
const lineOf = (type: string, ...fields: Uint8Array[]) =>
  `${type} ${Buffer.concat([field(type), ...fields]).toString('base64')}`

const [, rsa = { line: '' }] = recorded.keys
const edwards = recorded.keys.find(({ kind }) => kind === 'ed25519') ?? rsa
const bytesOf = (line: string) => Buffer.from(line.split(' ')[1] ?? '', 'base64')

describe('a public key', () => {
  it.each(recorded.keys.map((key) => [`${key.kind} ${key.listing.split(' ')[0]}`, key] as const))(
    'of %s has the size and fingerprint that ssh-keygen lists',
    (_name, { line, listing, kind }) => {
      const key = parsePublicKey(line)
      expect(`${key?.bits} SHA256:${key?.fingerprint}`).toBe(listing)
      expect(key?.fingerprint).toHaveLength(43)
      expect(key?.kind).toBe(kind)
      expect(key?.line).toBe(line.split(' ').slice(0, 2).join(' '))
    },
  )

  it('is the same with blanks around it, another comment, or a line break behind it', () => {
    const { fingerprint } = parsePublicKey(edwards.line) ?? {}
    const [type, encoded] = edwards.line.split(' ')
    for (const text of [
      `  ${edwards.line}\n`,
      `${type}\t${encoded}`,
      `${type} ${encoded} another comment`,
      `${type} ${encoded} caf\u00e9\r\n`,
    ]) {
      expect(parsePublicKey(text)?.fingerprint).toBe(fingerprint)
    }
  })

  it('may be of a kind that is not looked into', () => {
    expect(parsePublicKey(recorded.certificate)).toMatchObject({ kind: 'other', bits: null })
    const token = lineOf('sk-ssh-ed25519@openssh.com', field(new Uint8Array(32)), field('ssh:'))
    expect(parsePublicKey(token)).toMatchObject({ kind: 'other', line: token })
  })
})

describe('what is no public key', () => {
  const ed25519 = 'ssh-ed25519'
  const curve = 'ecdsa-sha2-nistp256'
  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  const point = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)])

  it.each([
    ['nothing', ''],
    ['a password', 'correct horse battery staple'],
    ['a type alone', ed25519],
    ['no base64', `${ed25519} !!!!`],
    ['base64 with bits to spare', edwards.line.split(' ').slice(0, 2).join(' ').replace(/.$/, '')],
    ['a private key', pem],
    ['two lines', `${edwards.line}\n${edwards.line}`],
    ['options in front', `no-pty ${edwards.line}`],
    ['another type than its bytes say', edwards.line.replace(ed25519, 'ssh-rsa')],
    ['bytes that end too early', lineOf(ed25519, field(new Uint8Array(32)).subarray(0, 20))],
    ['a point that is too short', lineOf(ed25519, field(new Uint8Array(31)))],
    ['more than a point', lineOf(ed25519, field(new Uint8Array(32)), field('x'))],
    ['an empty key', lineOf('ssh-rsa', field(''), field(''))],
    ['a modulus of zeros', lineOf('ssh-rsa', field(Buffer.from([1, 0, 1])), field(new Uint8Array(256)))],
    ['a modulus alone', lineOf('ssh-rsa', field(new Uint8Array(256).fill(1)))],
    ['another curve than its type', lineOf(curve, field('nistp384'), field(point))],
    ['a compressed point', lineOf(curve, field('nistp256'), field(Buffer.alloc(33, 2)))],
    ['a DSA key without its numbers', lineOf('ssh-dss', field(new Uint8Array(128).fill(1)))],
    ['an unknown type without a key', lineOf('ssh-mystery')],
  ])('%s', (_name, text) => {
    expect(parsePublicKey(text as string)).toBeNull()
  })

  it('is any beginning of one', () => {
    const bytes = bytesOf(rsa.line)
    for (let end = 0; end < bytes.length; end += 1) {
      expect(parsePublicKey(`ssh-rsa ${bytes.subarray(0, end).toString('base64')}`)).toBeNull()
    }
  })
})
