import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { nodes } from '../../src/db/schema.ts'
import { useFileFixtures } from './file-fixtures.ts'

const { world, fixtures } = useFileFixtures()

const urlOf = (answer: { body: any }) => new URL(answer.body.attributes.url)
const tokenOf = (url: URL) => url.searchParams.get('token') ?? ''

describe('an address to download from', () => {
  it('is signed by the node for one file, one use and 15 minutes', async () => {
    const answer = await fixtures.get('download', 'file', 'world//a b&c=1#?/../x y.zip ')
    expect(answer.body).toEqual({ object: 'signed_url', attributes: { url: expect.any(String) } })
    const url = urlOf(answer)
    expect(`${url.origin}${url.pathname}`).toBe(`http://127.0.0.1:${fixtures.daemon.port}/download/file`)
    expect([...url.searchParams.keys()]).toEqual(['token'])
    const token = tokenOf(url)
    const [head, payload, signature] = token.split('.')
    const expected = createHmac('sha256', fixtures.node.secret)
      .update(`${head}.${payload}`)
      .digest('base64url')
    expect(signature).toBe(expected)
    expect(decodeProtectedHeader(token).alg).toBe('HS256')
    const now = Math.floor(world.clock.now.getTime() / 1000)
    const { unique_id, jti, ...claims } = decodeJwt(token)
    expect(claims).toEqual({
      iss: 'http://panel.test',
      aud: [`http://127.0.0.1:${fixtures.daemon.port}`],
      iat: now,
      nbf: now - 300,
      exp: now + 900,
      scope: 'file-download',
      server_uuid: fixtures.server.uuid,
      user_uuid: fixtures.owner.uuid,
      file_path: '/world/x y.zip ',
    })
    expect(jti).toEqual(expect.any(String))
    expect(unique_id).toMatch(/^[0-9a-f]{32}$/)
    expect(answer.headers.get('cache-control')).toBe('no-store, private')
    expect(await fixtures.entries()).toEqual([
      {
        event: 'server:file.download',
        serverId: fixtures.server.id,
        properties: { file: '/world/x y.zip ' },
      },
    ])
    expect(fixtures.daemon.calls).toEqual([])
  })

  it('is another one each time, even at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => fixtures.get('download', 'file', '/a')),
    )
    const ids = answers.map((answer) => decodeJwt(tokenOf(urlOf(answer))).unique_id)
    expect(new Set(ids).size).toBe(12)
  })

  it('names the user who asks and leads to the node by its own name', async () => {
    await world.database.db
      .update(nodes)
      .set({ scheme: 'https', fqdn: 'fra-07.example.net', daemonListen: 443 })
      .where(eq(nodes.id, fixtures.node.id))
    const token = await fixtures.subuserToken(['file.read-content'])
    const url = urlOf(await fixtures.get('download', 'file', '/a', { token }))
    expect(url.origin).toBe('https://fra-07.example.net')
    expect(decodeJwt(tokenOf(url)).user_uuid).not.toBe(fixtures.owner.uuid)
  })
})

describe('an address to upload to', () => {
  it('is good for uploads alone and leaves no event', async () => {
    const answer = await fixtures.send('GET', 'upload')
    const url = urlOf(answer)
    expect(url.pathname).toBe('/upload/file')
    const claims = decodeJwt(tokenOf(url))
    expect(claims).toMatchObject({
      scope: 'file-upload',
      server_uuid: fixtures.server.uuid,
      user_uuid: fixtures.owner.uuid,
    })
    expect(claims).not.toHaveProperty('file_path')
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(900)
    // Clients put the folder beside the token.
    expect(`${url.href}&directory=%2Fa`).toMatch(/\/upload\/file\?token=[^&]+&directory=%2Fa$/)
    expect(await world.events()).toEqual([])
  })
})

it('addresses are given 60 times a minute to each user on each server', async () => {
  const other = await fixtures.subuserToken(['file.create', 'file.read-content'])
  for (const [route, path] of [
    ['download', 'download?file=a'],
    ['upload', 'upload'],
  ] as const) {
    const statuses = await Promise.all(Array.from({ length: 61 }, () => fixtures.send('GET', path)))
    expect(statuses.filter(({ status }) => status === 200).length, route).toBe(60)
    const refused = statuses.find(({ status }) => status === 429)
    expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/)
    expect((await fixtures.send('GET', path, { token: other })).status).toBe(200)
  }
  expect((await world.events()).filter((event) => event === 'server:file.download')).toHaveLength(61)
})
