import { generateKeyPairSync, scryptSync } from 'node:crypto'
import { eq, like } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, nodes, servers, sshKeys, throttles, transfers } from '../../src/db/schema.ts'
import { parsePublicKey } from '../../src/domain/accounts/ssh-public-key.ts'
import { makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const password = ' correct horse '
/** A hash with the minimum cost, because these tests are not about its strength. */
const passwordHash = `scrypt$2$1$1$${'A'.repeat(22)}$${scryptSync(password, Buffer.alloc(16), 32, { N: 2, r: 1, p: 1 }).toString('base64url')}`
let node: Awaited<ReturnType<typeof makeNode>>
let owner: Awaited<ReturnType<typeof makeUser>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  node = await makeNode(world)
  owner = await makeUser(world, { username: 'steve.the.miner', passwordHash })
  server = await makeServer(world, { node, owner })
})

/** Logs in with the request of the stock daemon. */
const login = (body: object, token = node.token) =>
  world.request('POST', '/api/remote/sftp/auth', {
    token,
    ip: '192.0.2.77',
    body: {
      type: 'password',
      username: `${owner.username}.${server.uuidShort}`,
      password,
      ip: '198.51.100.7:51234',
      session_id: 'c2Vzc2lvbg==',
      client_version: 'U1NILTIuMC1PcGVuU1NI',
      ...body,
    },
  })

/** Makes a new key of the account; without an account, an unknown key. */
async function makeSshKey(user: { id: number } | null): Promise<string> {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const head = Buffer.from('0000000b7373682d6564323535313900000020', 'hex')
  const line = `ssh-ed25519 ${Buffer.concat([head, Buffer.from(x, 'base64url')]).toString('base64')}`
  const fingerprint = parsePublicKey(line)?.fingerprint ?? ''
  if (user) {
    await world.database.db
      .insert(sshKeys)
      .values({ userId: user.id, name: 'Laptop', fingerprint, publicKey: line })
  }
  return line
}

const recorded = () => world.database.db.select().from(activity).orderBy(activity.id)
/** Lists the counts of refused logins by name, server and network. */
const counted = () => world.database.db.select().from(throttles).where(like(throttles.key, 'sftp:%'))

describe('a login with the right password', () => {
  it('opens the files of a server to its owner, for everything', async () => {
    const answer = await login({})
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ user: owner.uuid, server: server.uuid, permissions: ['*'] })
    expect(await recorded()).toEqual([])
    expect(await counted()).toEqual([])
  })

  it('takes a name in any case, the whole uuid, and no type', async () => {
    const names = [`STEVE.The.Miner.${server.uuidShort}`, `steve.the.miner.${server.uuid.toUpperCase()}`]
    for (const username of names) expect((await login({ username })).status).toBe(200)
    for (const type of [null, '', undefined]) expect((await login({ type })).status).toBe(200)
    for (const ip of [null, '', 'nonsense']) expect((await login({ ip })).status).toBe(200)
  })

  it('opens every server of the node to an administrator', async () => {
    await makeUser(world, { username: 'root', rootAdmin: true, passwordHash })
    const { body } = await login({ username: `root.${server.uuidShort}` })
    expect(body.permissions).toEqual([
      '*',
      'admin.websocket.errors',
      'admin.websocket.install',
      'admin.websocket.transfer',
    ])
  })

  it('returns the permissions of a subuser', async () => {
    const member = await makeUser(world, { passwordHash })
    const permissions = ['file.sftp', 'file.read', 'control.start']
    await makeSubuser(world, server, member, permissions)
    const { body } = await login({ username: `${member.username}.${server.uuidShort}` })
    expect(body).toEqual({ user: member.uuid, server: server.uuid, permissions })
  })

  it('takes three statements', async () => {
    await login({})
    expect(await world.countStatements(() => login({}))).toBe(3)
  })
})

describe('a login with a public key', () => {
  it('opens the files with a key of the account, whatever its comment', async () => {
    const line = await makeSshKey(owner)
    const { status, body } = await login({ type: 'public_key', password: `${line} steve@laptop\n` })
    expect(status).toBe(200)
    expect(body).toEqual({ user: owner.uuid, server: server.uuid, permissions: ['*'] })
  })

  it('is refused with a key that is unknown or of another user, without a limit of attempts', async () => {
    const keys = [await makeSshKey(null), await makeSshKey(await makeUser(world))]
    for (let round = 0; round < 4; round += 1) {
      for (const line of keys) {
        expect((await login({ type: 'public_key', password: line })).status).toBe(403)
      }
    }
    expect(await counted()).toEqual([])
    expect(await recorded()).toEqual([])
    expect(await world.countStatements(() => login({ type: 'public_key', password: keys[0] }))).toBe(2)
  })

  it('counts what is no key', async () => {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect((await login({ type: 'public_key', password: 'ssh-rsa AAAA' })).status).toBe(403)
    }
    expect((await login({ type: 'public_key', password: 'ssh-rsa AAAA' })).status).toBe(429)
    expect(await recorded()).toEqual([])
  })

  it('does not take the password for a key, nor the key for a password', async () => {
    const line = await makeSshKey(owner)
    expect((await login({ type: 'public_key' })).status).toBe(403)
    expect((await login({ password: line })).status).toBe(403)
  })
})

describe('a refused login', () => {
  it('does not tell what was wrong', async () => {
    const elsewhere = await makeServer(world, { owner })
    const otherUser = await makeUser(world, { passwordHash })
    const member = await makeUser(world, { passwordHash })
    await makeSubuser(world, server, member, ['file.read', 'file.update'])
    const imported = await makeUser(world, { passwordHash: `$2y$10$${'a'.repeat(53)}` })
    const open = await makeUser(world)
    const attempts = [
      { password: 'wrong' },
      { password: password.trim() },
      { username: `unknown.${server.uuidShort}` },
      { username: `.${server.uuidShort}` },
      { username: `${owner.username}.00000000` },
      { username: `${owner.username}.${elsewhere.uuidShort}` },
      ...[otherUser, member, imported, open].map(({ username }) => ({
        username: `${username}.${server.uuidShort}`,
      })),
      { type: 'public_key', password: await makeSshKey(null) },
      {
        type: 'public_key',
        password: await makeSshKey(member),
        username: `${member.username}.${server.uuid}`,
      },
    ]
    const bodies = new Set<string>()
    for (const attempt of attempts) {
      const answer = await login(attempt)
      expect([attempt, answer.status]).toEqual([attempt, 403])
      bodies.add(answer.text)
    }
    expect([...bodies].map((text) => JSON.parse(text).errors[0].code)).toEqual(['HttpForbiddenException'])
  })

  it('is recorded for the account when the password was wrong', async () => {
    await login({ password: 'wrong' })
    expect(await recorded()).toMatchObject([
      {
        event: 'auth:sftp.fail',
        userId: owner.id,
        actorId: null,
        serverId: null,
        nodeId: node.id,
        source: 'sftp',
        ip: '198.51.100.7',
        properties: { method: 'password' },
        timestamp: world.clock.now,
      },
    ])
    expect(await world.countStatements(() => login({ password: 'wrong' }))).toBe(3)
    await login({ username: `unknown.${server.uuidShort}` })
    await login({ username: `${owner.username}.00000000` })
    expect(await recorded()).toHaveLength(2)
  })

  it('is recorded on the server when the right person may not use SFTP, with password or key', async () => {
    const member = await makeUser(world, { passwordHash })
    await makeSubuser(world, server, member, ['file.read'])
    const username = `${member.username}.${server.uuidShort}`
    await login({ username, ip: '[2001:DB8::7]:22' })
    await login({ username, type: 'public_key', password: await makeSshKey(member), ip: '2001:db8::7' })
    const row = {
      event: 'server:sftp.denied',
      serverId: server.id,
      actorId: member.id,
      userId: null,
      nodeId: null,
      source: 'sftp',
      ip: '2001:db8::7',
      properties: {},
    }
    expect(await recorded()).toMatchObject([row, row])
    expect(await counted()).toMatchObject([{ hits: 1 }])
    expect(await world.countStatements(() => login({ username }))).toBe(3)
  })

  it('is one when it comes from another node', async () => {
    const other = await makeNode(world)
    expect((await login({}, other.token)).status).toBe(403)
  })
})

describe('too many refused logins', () => {
  const failTimes = async (times: number, body: object = {}) => {
    for (let attempt = 0; attempt < times; attempt += 1) {
      expect((await login({ password: 'wrong', ...body })).status).toBe(403)
    }
  }

  it('keep the right password out too, until a minute after the first of them', async () => {
    await failTimes(4)
    expect((await login({})).status).toBe(200)
    world.clock.advance(20)
    await failTimes(1)
    const answer = await login({})
    expect(answer.status).toBe(429)
    expect(answer.body.errors[0].code).toBe('TooManyRequestsHttpException')
    expect(answer.headers.get('retry-after')).toBe('40')
    expect(await world.countStatements(() => login({}))).toBe(2)
    expect((await login({ type: 'public_key', password: await makeSshKey(owner) })).status).toBe(429)
    world.clock.advance(41)
    await failTimes(1)
    expect(await counted()).toMatchObject([{ hits: 1 }])
    expect((await login({})).status).toBe(200)
  })

  it('concern one name, one server and one client alone', async () => {
    const second = await makeServer(world, { node, owner })
    const administrator = await makeUser(world, { rootAdmin: true, passwordHash })
    await failTimes(5)
    expect((await login({ ip: '198.51.100.7:9' })).status).toBe(429)
    expect((await login({ username: `STEVE.the.miner.${server.uuid}` })).status).toBe(429)
    expect((await login({ ip: '198.51.100.8:51234' })).status).toBe(200)
    expect((await login({ username: `${owner.username}.${second.uuidShort}` })).status).toBe(200)
    expect((await login({ username: `${administrator.username}.${server.uuidShort}` })).status).toBe(200)
  })

  it('are counted by the network that one customer holds, where addresses are many', async () => {
    await failTimes(3, { ip: '[2001:db8:1:2::1]:40000' })
    await failTimes(2, { ip: '[2001:db8:1:2:ffff::9]:40001', username: `${owner.username}.${server.uuid}` })
    expect((await login({ ip: '[2001:db8:1:2:3::]:1' })).status).toBe(429)
    expect((await login({ ip: '[2001:db8:1:3::1]:1' })).status).toBe(200)
    await failTimes(5, { ip: '[::ffff:203.0.113.5]:1' })
    expect((await login({ ip: '203.0.113.5:2' })).status).toBe(429)
  })

  it('count for names and servers that do not exist, so that they tell nothing', async () => {
    for (const username of [`unknown.${server.uuidShort}`, `${owner.username}.00000000`]) {
      await failTimes(3, { username, password })
      await failTimes(2, { username })
      expect((await login({ username, password })).status).toBe(429)
    }
  })

  it('are counted exactly when they come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => login({ password: 'wrong' })))
    const { length } = answers.filter(({ status }) => status === 403)
    expect(length).toBeGreaterThanOrEqual(5)
    expect(await counted()).toMatchObject([{ hits: length }])
    expect((await login({})).status).toBe(429)
  })
})

describe('a server whose state allows no files', () => {
  it.each(['suspended', 'installing', 'install_failed', 'restoring_backup'] as const)(
    'is refused with 409 while it is %s, to administrators too, once the login is right',
    async (status) => {
      const administrator = await makeUser(world, { rootAdmin: true, passwordHash })
      await world.database.db.update(servers).set({ status })
      const username = `${administrator.username}.${server.uuidShort}`
      for (const body of [{}, { username }]) {
        const answer = await login(body)
        expect(answer.status).toBe(409)
        expect(answer.body.errors[0].code).toBe('ServerStateConflictException')
      }
      expect((await login({ password: 'wrong' })).status).toBe(403)
    },
  )

  it('is refused with 409 under maintenance and while it is moved, and not after a failed reinstallation', async () => {
    const { db } = world.database
    await db.update(servers).set({ status: 'reinstall_failed' })
    expect((await login({})).status).toBe(200)
    await db.update(nodes).set({ maintenanceMode: true }).where(eq(nodes.id, node.id))
    expect((await login({})).status).toBe(409)
    await db.update(nodes).set({ maintenanceMode: false })
    const target = await makeNode(world)
    await db.insert(transfers).values({
      serverId: server.id,
      oldNodeId: node.id,
      newNodeId: target.id,
      oldAllocationId: 1,
      newAllocationId: 2,
    })
    expect((await login({})).status).toBe(409)
    expect((await login({}, target.token)).status).toBe(403)
  })
})

describe('a malformed login', () => {
  it('is refused with 400 when the name does not end in a server', async () => {
    const names = ['steve', 'steve.', 'steve.x', `steve${server.uuidShort}`, `${server.uuidShort}.steve`]
    for (const username of [
      ...names,
      `steve.${server.uuidShort}0`,
      `steve.${server.uuidShort}-`,
      'steve.ABCDEFG-',
    ]) {
      const answer = await login({ username })
      expect([username, answer.status]).toEqual([username, 400])
      expect(answer.body.errors[0].code).toBe('BadRequestHttpException')
    }
    expect(await counted()).toEqual([])
  })

  it('is refused with 422 when something is missing or of no use', async () => {
    const cases: [object, string][] = [
      [{ username: null }, 'username'],
      [{ username: '' }, 'username'],
      [{ username: 'x'.repeat(256) }, 'username'],
      [{ password: undefined }, 'password'],
      [{ password: '' }, 'password'],
      [{ password: 7 }, 'password'],
      [{ type: 'keyboard-interactive' }, 'type'],
    ]
    for (const [body, field] of cases) {
      const answer = await login(body)
      expect([body, answer.status]).toEqual([body, 422])
      expect(answer.body.errors[0].meta.source_field).toBe(field)
    }
  })
})
