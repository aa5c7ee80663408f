import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, activitySubjects, sshKeys } from '../../src/db/schema.ts'
import recorded from '../domain/ssh-keys.json' with { type: 'json' }
import { makeClientToken, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const path = '/api/client/account/ssh-keys'
let user: Awaited<ReturnType<typeof makeUser>>
let token: string

beforeEach(async () => {
  user = await makeUser(world)
  token = await makeClientToken(world, user)
})

const add = (publicKey: unknown, as = token, name: unknown = 'laptop') =>
  world.request('POST', path, { token: as, body: { name, public_key: publicKey } })
const list = (as = token) => world.request('GET', path, { token: as })
const remove = (fingerprint: unknown, as = token) =>
  world.request('POST', `${path}/remove`, { token: as, body: { fingerprint } })

const rules = ({ status, body }: { status: number; body: any }) => [
  status,
  ...body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`),
]

const usable = recorded.keys.filter(({ kind, listing }) => kind !== 'dsa' && !listing.startsWith('1024 '))
const { line: first } = usable[0] ?? { line: '' }
const lineWith = (kind: string) => recorded.keys.find((key) => key.kind === kind)?.line ?? ''

/** A new key as a line of `authorized_keys`. */
function newLine(): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const type = Buffer.from('0000000b7373682d6564323535313900000020', 'hex')
  return `ssh-ed25519 ${Buffer.concat([type, Buffer.from(x, 'base64url')]).toString('base64')} new`
}

describe('a new SSH key', () => {
  it.each(usable.map((key) => [`${key.kind} ${key.listing.split(' ')[0]}`, key] as const))(
    'of %s has the fingerprint that ssh-keygen lists, and is shown as PEM',
    async (_name, { line, listing, kind }) => {
      const { status, body } = await add(line)
      expect(status).toBe(200)
      expect(body).toEqual({
        object: 'ssh_key',
        attributes: {
          name: 'laptop',
          fingerprint: listing.split('SHA256:')[1],
          public_key: expect.stringMatching(
            /^-----BEGIN PUBLIC KEY-----\r\n([\w+/=]{1,64}\r\n)+-----END PUBLIC KEY-----$/,
          ),
          created_at: expect.stringMatching(/\+00:00$/),
        },
      })
      const { kty, n, x, crv, y } = createPublicKey(body.attributes.public_key).export({ format: 'jwk' })
      expect(kty).toBe({ rsa: 'RSA', ecdsa: 'EC', ed25519: 'OKP' }[kind])
      const sent = Buffer.from(line.split(' ')[1] ?? '', 'base64')
      for (const part of [n, x, y]) {
        if (part !== undefined) expect(sent.includes(Buffer.from(part, 'base64url'))).toBe(true)
      }
      if (kty === 'EC') expect(line).toContain(crv?.replace('P-', 'ecdsa-sha2-nistp'))
      expect((await list()).body).toEqual({ object: 'list', data: [body] })
    },
  )

  it('is recorded on the account', async () => {
    const { body } = await add(first)
    const { fingerprint } = body.attributes
    expect(await world.database.db.select().from(activity)).toEqual([
      expect.objectContaining({
        event: 'user:ssh-key.create',
        userId: user.id,
        actorId: user.id,
        properties: { fingerprint },
      }),
    ])
    const [key] = await world.database.db.select().from(sshKeys)
    expect(await world.database.db.select().from(activitySubjects)).toEqual([
      expect.objectContaining({ subjectType: 'ssh_key', subjectId: key?.id }),
    ])
  })

  const { privateKey } = generateKeyPairSync('ed25519')
  const offCurve = Buffer.concat([
    Buffer.from('0000001365636473612d736861322d6e69737470323536000000086e6973747032353600000041', 'hex'),
    Buffer.from([4]),
    Buffer.alloc(64, 1),
  ])
  it.each([
    ['DSA', lineWith('dsa')],
    ['RSA with 1024 bits', recorded.keys[0]?.line],
    ['a private key', privateKey.export({ type: 'pkcs8', format: 'pem' })],
    ['a public key in PEM', '-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----'],
    ['a certificate', recorded.certificate],
    ['a point beside its curve', `ecdsa-sha2-nistp256 ${offCurve.toString('base64')}`],
    ['a word', 'hunter2'],
    ['two keys', `${first}\n${lineWith('ed25519')}`],
    ['options in front', `command="rm" ${first}`],
  ])('is not %s', async (_name, line) => {
    expect(rules(await add(line))).toEqual([422, 'public_key: '])
    expect((await list()).body.data).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('has a name and a key of bounded lengths', async () => {
    expect(rules(await world.request('POST', path, { token, body: {} }))).toEqual([
      422,
      'name: required',
      'public_key: required',
    ])
    expect(rules(await add('', token, ' '))).toEqual([422, 'name: required', 'public_key: required'])
    expect(rules(await add(7, token, {}))).toEqual([422, 'name: string', 'public_key: string'])
    expect(rules(await add(`ssh-rsa ${'A'.repeat(16_400)}`, token, 'x'.repeat(192)))).toEqual([
      422,
      'name: max',
      'public_key: max',
    ])
  })

  it('is a new one for the account, whatever its comment', async () => {
    await add(first)
    const [type, encoded] = first.split(' ')
    expect(rules(await add(`${type} ${encoded} another comment`))).toEqual([422, 'public_key: '])
    const other = await makeClientToken(world, await makeUser(world))
    expect((await add(first, other)).status).toBe(200)
  })

  it('is added once by many who add it at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => add(first)))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200,
      ...Array(9).fill(422),
    ])
    expect(await world.events()).toEqual(['user:ssh-key.create'])
  })

  it('is one of at most 50, also when many are added at once', async () => {
    const values = Array.from({ length: 45 }, (_, at) => ({
      userId: user.id,
      name: `Key ${at}`,
      fingerprint: String(at),
      publicKey: '',
    }))
    await world.database.db.insert(sshKeys).values(values)
    const answers = await Promise.all(Array.from({ length: 15 }, () => add(newLine())))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused).toHaveLength(10)
    for (const { status, body } of refused) {
      expect([status, body.errors[0].code]).toEqual([400, 'DisplayException'])
    }
    expect(await world.database.db.$count(sshKeys)).toBe(50)
  })
})

describe('an SSH key that is taken away', () => {
  it('is gone, and is recorded', async () => {
    const { fingerprint } = (await add(first)).body.attributes
    expect((await remove(fingerprint)).status).toBe(204)
    expect((await list()).body.data).toEqual([])
    expect(await world.events()).toEqual(['user:ssh-key.create', 'user:ssh-key.delete'])
    const [, entry] = await world.database.db.select().from(activity).orderBy(activity.id)
    expect(entry).toMatchObject({ userId: user.id, properties: { fingerprint } })
    expect((await add(first)).status).toBe(200)
  })

  it('is the own one: of others and unknown ones nothing is said or changed', async () => {
    const other = await makeClientToken(world, await makeUser(world))
    const { fingerprint } = (await add(first, other)).body.attributes
    expect((await remove(fingerprint)).status).toBe(204)
    expect((await remove('unknown')).status).toBe(204)
    expect((await list(other)).body.data).toHaveLength(1)
    expect(await world.events()).toEqual(['user:ssh-key.create'])
    expect(rules(await remove(undefined))).toEqual([422, 'fingerprint: required'])
    expect(rules(await remove(['x']))).toEqual([422, 'fingerprint: string'])
  })
})

describe('the list', () => {
  it('takes two statements', async () => {
    await add(first)
    await list()
    expect(await world.countStatements(() => list())).toBe(2)
  })
})
