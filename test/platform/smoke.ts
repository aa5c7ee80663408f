import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { languages } from '../../src/domain/languages.ts'
import { signMessage } from '../../src/dev/qstash/signature.ts'
import type { Answer } from '../support/answers.ts'
import { type CloudServices, openCloudServices } from '../support/cloud-services.ts'
import {
  fullAcl,
  makeClientToken,
  makeKey,
  makeLocation,
  makeNode,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { signingKeys } from '../support/world.ts'

export type SmokeRequest = { headers?: Record<string, string>; body?: string; ip?: string }

/** A running panel on one platform. */
export type SmokeTarget = {
  /** Its APP_URL. */
  origin: string
  /** Sends a request; `ip` is the caller's address as the platform reports it. */
  fetch: (method: string, path: string, request: SmokeRequest) => Promise<Answer>
  close: () => Promise<void>
}

const locationsPath = '/api/application/locations'
const allowedAddress = '127.0.0.2'

/** Values of `Host` that callers may send where no edge checks it. */
export const anyHosts = [
  'evil.test',
  'evil.test:8443',
  'evil.test@evil.test',
  'evil.test:x',
  'evil .test',
  '[evil',
  '..',
]

/** Defines the smoke tests of a platform. */
export function smokeSuite(
  name: string,
  open: (services: CloudServices) => Promise<SmokeTarget>,
  foreignHosts: string[] = [],
): void {
  let services: CloudServices
  let target: SmokeTarget
  let token: string

  beforeAll(async () => {
    services = await openCloudServices()
    target = await open(services)
    const admin = await makeUser(services.world, { rootAdmin: true })
    token = (await makeKey(services.world, admin, { type: 'application', acl: fullAcl })).token
  })
  afterAll(async () => {
    await target?.close()
    await services?.close()
  })

  const call = (
    method: string,
    path: string,
    request: SmokeRequest & { bearer?: string; json?: unknown } = {},
  ) => {
    const {
      bearer = token,
      json,
      headers,
      body = json === undefined ? undefined : JSON.stringify(json),
    } = request
    return target.fetch(method, path, {
      ...request,
      headers: {
        host: new URL(target.origin).host,
        accept: 'application/json',
        ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    })
  }

  describe(`${name} and callers`, () => {
    it('refuses callers without a credential with 401 in the error shape, with the headers of every response', async () => {
      const { status, body, headers } = await call('GET', locationsPath, { bearer: '' })
      expect(status).toBe(401)
      expect(body).toEqual({
        errors: [
          {
            code: 'AuthenticationException',
            status: '401',
            detail: expect.any(String),
            meta: { reason: expect.any(String) },
          },
        ],
      })
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'application/json',
        'www-authenticate': 'Bearer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store, private',
        'content-security-policy': "default-src 'none'",
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
      const another = await call('GET', locationsPath, { bearer: '' })
      expect(another.headers.get('x-request-id')).not.toBe(headers.get('x-request-id'))
    })

    it('NW-1: learns the address of the caller from the platform and believes no header', async () => {
      const admin = await makeUser(services.world, { rootAdmin: true })
      const key = { type: 'application' as const, acl: fullAcl, allowedIps: [allowedAddress] }
      const bearer = (await makeKey(services.world, admin, key)).token
      expect((await call('GET', locationsPath, { bearer, ip: allowedAddress })).status).toBe(200)
      const headers = {
        'x-forwarded-for': allowedAddress,
        forwarded: `for=${allowedAddress}`,
        'true-client-ip': allowedAddress,
        'x-real-ip': allowedAddress,
      }
      expect((await call('GET', locationsPath, { bearer, headers, ip: '127.0.0.3' })).status).toBe(403)
    })

    it('counts requests in the shared cache', async () => {
      const left = async () => {
        const { headers } = await call('GET', locationsPath)
        expect(headers.get('x-ratelimit-limit')).toBe('5000')
        return Number(headers.get('x-ratelimit-remaining'))
      }
      const before = await left()
      expect(await left()).toBe(before - 1)
    })

    it('lets people in with their own keys only', async () => {
      const bearer = await makeClientToken(services.world, await makeUser(services.world))
      expect(await call('GET', '/api/client', { bearer })).toMatchObject({ status: 200, body: { data: [] } })
      expect((await call('GET', '/api/client')).status).toBe(403)
      expect((await call('GET', locationsPath, { bearer })).status).toBe(403)
    })

    it('tells daemons apart by their token', async () => {
      const node = await makeNode(services.world)
      const statusFor = async (bearer: string) =>
        (await call('GET', '/api/remote/servers', { bearer })).status
      expect(await statusFor('')).toBe(401)
      expect(await statusFor('no-dot')).toBe(400)
      expect(await statusFor(`${node.daemonTokenId}.wrong`)).toBe(403)
      expect(await statusFor(node.token)).toBe(200)
    })

    it('takes messages that the queue signed, and no others', async () => {
      const body = JSON.stringify({ job: crypto.randomUUID() })
      const signature = signMessage({
        key: signingKeys.current,
        url: `${target.origin}/jobs/run`,
        body,
      })
      const signed = { bearer: '', body, headers: { 'upstash-signature': signature } }
      expect(await call('POST', '/jobs/run', signed)).toMatchObject({
        status: 200,
        body: { outcome: 'not due' },
      })
      expect((await call('POST', '/jobs/run', { bearer: '', body })).status).toBe(401)
    })
  })

  describe(`${name} and data`, () => {
    it('stores and gives back what was sent, in any script', async () => {
      const long = 'Zürich, 東京, 🏔'
      const added = await call('POST', locationsPath, { json: { short: `u${Date.now()}`, long } })
      expect(added).toMatchObject({ status: 201, body: { object: 'location', attributes: { long } } })
      const { id } = added.body.attributes
      expect(added.body.meta.resource).toBe(`${target.origin}${locationsPath}/${id}`)
      expect((await call('GET', `${locationsPath}/${id}`)).body.attributes).toEqual(added.body.attributes)
      const removed = await call('DELETE', `${locationsPath}/${id}`)
      expect(removed).toMatchObject({ status: 204, text: '' })
    })

    it('lists in pages with filters, whose links lead on', async () => {
      for (const short of ['page-a', 'page-b', 'page-c'])
        await call('POST', locationsPath, { json: { short } })
      const { body } = await call('GET', `${locationsPath}?per_page=2&filter[short]=PAGE-&sort=-id`)
      expect(body.data.map((item: any) => item.attributes.short)).toEqual(['page-c', 'page-b'])
      expect(body.meta.pagination).toMatchObject({ total: 3, count: 2, current_page: 1, total_pages: 2 })
      const next = new URL(body.meta.pagination.links.next)
      expect(next.origin).toBe(target.origin)
      const second = await call('GET', `${next.pathname}${next.search}`)
      expect(second.body.data.map((item: any) => item.attributes.short)).toEqual(['page-a'])
      const { links } = second.body.meta.pagination
      expect(links).toEqual({ previous: expect.stringContaining('page=1') })
    })

    it('keeps all of a transaction, or none', async () => {
      const node = await makeNode(services.world)
      const server = await makeServer(services.world, { node, status: 'installing', installedAt: null })
      const another = await makeServer(services.world, { status: 'installing', installedAt: null })
      const report = (uuid: string) => {
        const json = { successful: true, reinstall: false }
        return call('POST', `/api/remote/servers/${uuid}/install`, { bearer: node.token, json })
      }
      const statusOf = async (id: number) =>
        (await call('GET', `/api/application/servers/${id}`)).body.attributes.status
      expect((await report(server.uuid)).status).toBe(204)
      expect(await statusOf(server.id)).toBe(null)
      expect((await report(another.uuid)).status).toBe(403)
      expect(await statusOf(another.id)).toBe('installing')
    })

    it('serves many callers at once', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => call('GET', locationsPath)))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    })
  })

  describe(`${name} and requests`, () => {
    it('names each broken rule with 422', async () => {
      const { status, body } = await call('POST', locationsPath, {
        json: { short: '', long: 'x'.repeat(192) },
      })
      expect(status).toBe(422)
      expect(body.errors.map((error: any) => error.meta)).toMatchObject([
        { source_field: 'short', rule: 'required' },
        { source_field: 'long', rule: 'between' },
      ])
    })

    it('refuses unknown paths with 404 and unknown methods with 405', async () => {
      expect((await call('GET', '/api/application/nothing')).status).toBe(404)
      expect((await call('GET', `${locationsPath}/2000000000`)).status).toBe(404)
      const { status, headers } = await call('PUT', locationsPath, { json: {} })
      expect(status).toBe(405)
      expect(headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(['GET', 'POST']))
    })

    it('takes a trailing slash', async () => {
      expect((await call('GET', `${locationsPath}/`)).status).toBe(200)
    })

    it('reads the JSON body of a GET before its query, up to the limit of every body', async () => {
      const list = (json: unknown, query = '') => call('GET', `${locationsPath}${query}`, { json })
      const pageOf = async (json: unknown, query?: string) =>
        (await list(json, query)).body.meta.pagination.current_page
      expect(await pageOf({ page: 2 })).toBe(2)
      expect(await pageOf({ page: 2 }, '?page=3')).toBe(2)
      expect(await pageOf({ per_page: 10 }, '?page=3')).toBe(3)
      expect((await list({ page: 'x'.repeat(300_000) })).status).toBe(413)
      expect((await call('GET', locationsPath, { body: '{"page":' })).status).toBe(400)
      expect(await pageOf({})).toBe(1)
    })

    it('reads the query and forms of a change as it reads JSON', async () => {
      const short = () => `form-${crypto.randomUUID()}`
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      const sent = [short(), short(), short()]
      expect(await call('POST', `${locationsPath}?short=${sent[0]}`)).toMatchObject({ status: 201 })
      const encoded = await call('POST', locationsPath, {
        headers: form,
        body: `short=${sent[1]}&long=Z%C3%BCrich`,
      })
      expect(encoded).toMatchObject({ status: 201, body: { attributes: { short: sent[1], long: 'Zürich' } } })
      const multipart = { 'content-type': 'multipart/form-data; boundary=form-boundary-4711' }
      const part = `--form-boundary-4711\r\ncontent-disposition: form-data; name="short"\r\n\r\n${sent[2]}\r\n--form-boundary-4711--\r\n`
      expect(await call('POST', locationsPath, { headers: multipart, body: part })).toMatchObject({
        status: 201,
      })
    })

    it('refuses with 400 what is no JSON and with 413 what is too long', async () => {
      expect((await call('POST', locationsPath, { body: '{"short":' })).status).toBe(400)
      expect((await call('POST', locationsPath, { json: { short: 'x'.repeat(300_000) } })).status).toBe(413)
    })

    it.each(foreignHosts)(
      'NW-4: takes no link from the Host %s, and does not stumble over it',
      async (host) => {
        await makeLocation(services.world, { short: crypto.randomUUID() })
        await makeLocation(services.world, { short: crypto.randomUUID() })
        const answer = await call('GET', `${locationsPath}?per_page=1`, { headers: { host } })
        expect([200, 400]).toContain(answer.status)
        expect(`${answer.text}${JSON.stringify([...answer.headers])}`).not.toContain('evil')
        if (answer.status !== 200) return
        expect(new URL(answer.body.meta.pagination.links.next).origin).toBe(target.origin)
      },
    )

    it.each([
      `/${locationsPath}`,
      '/api/application%2flocations',
      '/api%5clocations',
      '/api/application/%00',
    ])('NW-5: refuses the odd path %s with 400', async (path) => {
      expect((await call('GET', path)).status).toBe(400)
    })

    it('NW-5: resolves dots in a path as usual', async () => {
      expect((await call('GET', '/api/application/x/%2e%2e/locations')).status).toBe(200)
    })

    it('has texts in every language', async () => {
      for (const language of languages) {
        const { status, body } = await call(
          'GET',
          `/locales/locale.json?locale=${language}&namespace=strings`,
          {
            bearer: '',
          },
        )
        expect(status).toBe(200)
        expect(body[language].strings.action.save).toMatch(/\S/)
      }
    })

    it('is healthy', async () => {
      expect(await call('GET', '/health', { bearer: '' })).toMatchObject({
        status: 200,
        body: { status: 'ok', parts: { database: 'ok', cache: 'ok', queue: 'ok', objects: 'ok' } },
      })
    })
  })
}
