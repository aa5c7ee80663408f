import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { findSigningKey } from '../../src/adapters/queue-signature.ts'
import { jobs as jobsTable } from '../../src/db/schema.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { signMessage } from '../../src/dev/qstash/signature.ts'
import { application } from '../../src/surfaces/application.ts'
import { browser } from '../../src/surfaces/browser.ts'
import { jobs } from '../../src/surfaces/jobs.ts'
import {
  type CloudServices,
  findPostgres,
  openCloudServices,
  stubEnvironment,
} from '../support/cloud-services.ts'
import { fullAcl, makeKey, makeUser } from '../support/factories.ts'
import { callThroughGateway, httpEvent } from '../support/lambda-gateway.ts'
import { signingKeys } from '../support/world.ts'

const hasPostgres = await findPostgres('Lambda functions')
const origin = 'https://panel.example.com'
const sourceIp = '192.0.2.1'
const schedule = { source: 'aws.events', 'detail-type': 'Scheduled Event' }

describe.skipIf(!hasPostgres)('A Lambda function', () => {
  let services: CloudServices

  beforeAll(async () => {
    services = await openCloudServices()
    stubEnvironment({ ...services.environment, APP_URL: origin })
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await services.close()
  })

  it('runs the tick when its schedule asks for it', async () => {
    await lambda([jobs], { tick: runTick })(schedule)
    const rows = await services.database.db.select({ name: jobsTable.name }).from(jobsTable)
    expect(rows).toContainEqual({ name: 'maintain-activity' })
  })

  it('refuses events it has nothing to do with', async () => {
    await expect(lambda([browser])(schedule)).rejects.toThrow('does not handle')
    await expect(
      lambda([jobs], { tick: runTick })({ source: 'aws.s3', 'detail-type': 'Object Created' }),
    ).rejects.toThrow()
  })

  it('has finished its deferred work when it answers', async () => {
    await services.database.db.delete(jobsTable)
    const before = services.queue.messages.length
    const body = '{}'
    const signature = signMessage({ key: signingKeys.current, url: `${origin}/jobs/tick`, body })
    const request = { headers: { 'upstash-signature': signature }, body, sourceIp }
    const { status } = await callThroughGateway(
      lambda([jobs], { tick: runTick, verifySignature: findSigningKey }),
      'POST',
      '/jobs/tick',
      request,
    )
    expect(status).toBe(200)
    const announced = services.queue.messages[before]
    expect(announced?.url).toBe(`${origin}/jobs/run`)
    expect(JSON.parse(new TextDecoder().decode(announced?.body))).toEqual({ job: expect.any(String) })
  })

  it('NW-2: compares addresses as numbers, and refuses callers with an unreadable address', async () => {
    const admin = await makeUser(services.world, { rootAdmin: true })
    const key = { type: 'application' as const, acl: fullAcl, allowedIps: ['2001:db8::1', '192.0.2.7'] }
    const authorization = `Bearer ${(await makeKey(services.world, admin, key)).token}`
    const handler = lambda([application])
    const statusFrom = async (address: string) => {
      const request = { headers: { authorization }, sourceIp: address }
      return (await callThroughGateway(handler, 'GET', '/api/application/locations', request)).status
    }
    expect(await statusFrom('2001:0DB8:0:0::0001')).toBe(200)
    expect(await statusFrom('::ffff:192.0.2.7')).toBe(200)
    expect(await statusFrom('192.0.2.8')).toBe(403)
    expect(await statusFrom('unknown')).toBe(403)
  })

  it('NW-5: takes a question mark in the decoded path for a part of the path', async () => {
    const admin = await makeUser(services.world, { rootAdmin: true })
    const { token } = await makeKey(services.world, admin, { type: 'application', acl: fullAcl })
    const headers = { authorization: `Bearer ${token}` }
    const event = httpEvent('GET', '/api/application/users', { headers, sourceIp })
    const handler = lambda([application])
    expect(await handler(event)).toMatchObject({ statusCode: 200 })
    const rawPath = `${event.rawPath}?per_page=1`
    expect(await handler({ ...event, rawPath })).toMatchObject({ statusCode: 404 })
  })

  it('answers 503 to all and logs every fault while its environment is incomplete', async () => {
    stubEnvironment({ APP_URL: 'no url', APP_KEYS: '', DATABASE_URL: '' })
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const { status, body } = await callThroughGateway(lambda([browser]), 'GET', '/health', { sourceIp })
    const logged = log.mock.calls.flat().join('\n')
    log.mockRestore()
    expect(status).toBe(503)
    expect(body.errors[0].code).toBe('ServiceUnavailableHttpException')
    expect(logged).toContain('APP_URL')
    expect(logged).not.toContain(services.environment.QSTASH_TOKEN)
  })
})
