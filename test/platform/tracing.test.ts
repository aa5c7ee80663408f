import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CloudServices, findPostgres, openCloudServices } from '../support/cloud-services.ts'
import { type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.ts'
import {
  addNode,
  demoServer,
  freePort,
  type PanelProcess,
  startPanelProcess,
} from '../support/panel-process.ts'
import { eventually, startProcess } from '../support/processes.ts'

type Receiver = Awaited<ReturnType<typeof startOtlpReceiver>>

const caller = { id: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' }
/** What the requests of this file carry, and no span may have. */
const secrets = {
  query: 'SignatureInTheQuery',
  password: 'PasswordOfTheCaller',
  token: 'ptlc_TokenOfNoUserHere0123456789',
  header: 'TokenOfTheReceiver',
}
const often = { OTEL_BSP_SCHEDULE_DELAY: '50' }

describe('traces of a panel', { timeout: 120_000 }, () => {
  let receiver: Receiver
  let panel: PanelProcess

  beforeAll(async () => {
    receiver = await startOtlpReceiver()
    panel = await startPanelProcess({
      ...often,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${secrets.header}`,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=trial',
    })
  }, 120_000)
  afterAll(async () => {
    await panel?.stop()
    await receiver?.close()
  })

  type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }
  const call = (path: string, init: Init = {}) => {
    const headers = { accept: 'application/json', authorization: `Bearer ${panel.bootstrap.user.client_key}` }
    return fetch(`${panel.bootstrap.url}${path}`, { ...init, headers: { ...headers, ...init.headers } })
  }
  const arrived = (isWanted: (span: ReceivedSpan) => boolean) =>
    eventually(() => receiver.spans.find(isWanted) ?? null)
  const childrenOf = (parent: ReceivedSpan) =>
    receiver.spans.filter(({ traceId, parentId }) => traceId === parent.traceId && parentId === parent.spanId)

  it('have a span of each request by its route, in the trace of its caller, and of what it called', async () => {
    const { identifier } = panel.bootstrap.server
    const answer = await call(`/api/client/servers/${identifier}/resources`, {
      headers: { traceparent: `00-${caller.id}-${caller.span}-01`, tracestate: 'rojo=1' },
    })
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([200, caller.id])
    const span = await arrived(({ parentId }) => parentId === caller.span)
    expect(span).toMatchObject({
      traceId: caller.id,
      name: 'GET /api/client/servers/:server/resources',
      kind: 2,
      traceState: 'rojo=1',
      status: 0,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/api/client/servers/:server/resources',
        'http.response.status_code': '200',
        'roost.surface': 'client',
        'roost.request_id': caller.id,
        'roost.actor': 'user',
      },
      resource: { 'service.name': 'roost', 'deployment.environment.name': 'trial' },
    })
    const children = childrenOf(span)
    expect(children.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['SELECT', 'cache hit', 'daemon GET /api/servers/:id']),
    )
    const statement = children.find(({ name }) => name === 'SELECT')
    expect(statement?.attributes).toMatchObject({ 'db.system.name': 'postgresql' })
    expect(statement?.attributes['db.query.text']).toMatch(/^select .*"api_keys"/)
    expect(children.find(({ name }) => name.startsWith('daemon'))?.attributes).toMatchObject({
      'http.response.status_code': '200',
      'url.template': '/api/servers/:id',
    })
  })

  it('give a request its id where the caller has no trace', async () => {
    const answer = await call('/api/client')
    const id = answer.headers.get('x-request-id')
    expect(id).toMatch(/^[\da-f]{32}$/)
    const span = await arrived(({ traceId, kind }) => traceId === id && kind === 2)
    expect([span.name, span.parentId]).toEqual(['GET /api/client', ''])
  })

  it('go on in the jobs that a request enqueues, and in mail and object store', async () => {
    const answer = await call(`/api/client/servers/${panel.bootstrap.server.identifier}/backups`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(answer.status).toBe(200)
    const sent = await arrived(({ name, kind }) => name === 'queue send' && kind === 4)
    const job = await arrived(({ parentId }) => parentId === sent.spanId)
    expect([job.name, job.traceId]).toEqual(['POST /jobs/run', sent.traceId])
    // The first tick of the demo does these.
    await arrived(({ name }) => name === 'tick')
    const listed = await arrived(({ name }) => name === 'objects multipart list')
    expect(listed.attributes).toEqual({ 'peer.service': 'objects' })
    const mail = await arrived(({ name }) => name === 'mail send')
    expect(mail.attributes).toEqual({ 'peer.service': 'mail' })
  })

  it('have the errors of calls that failed', async () => {
    const node = await addNode(panel, 'Away', '27000-27001')
    const { body } = await panel.asAdmin('GET', '/users?filter[username]=player')
    const server = await demoServer(panel, body.data[0].attributes.id, node.allocations[0] ?? 0)
    await panel.asAdmin('POST', '/servers', server)
    const failed = await arrived(
      ({ name, events }) => name === 'daemon POST /api/servers' && events.length > 0,
    )
    expect(failed.status).toBe(2)
    expect(failed.events[0]).toMatchObject({
      name: 'exception',
      attributes: { 'exception.message': expect.stringContaining('ECONNREFUSED') },
    })
    const unknown = await call('/api/client/servers/00000000')
    const refused = await arrived(
      ({ traceId, kind }) => traceId === unknown.headers.get('x-request-id') && kind === 2,
    )
    expect([refused.status, refused.attributes['error.type']]).toEqual([0, 'NotFoundHttpException'])
  })

  it('have no secret: no token, password, query or body, and no id in a name', async () => {
    const json = { 'content-type': 'application/json' }
    const login = JSON.stringify({ user: 'player@example.test', password: secrets.password })
    const origin = panel.bootstrap.url
    await call('/auth/login', { method: 'POST', body: login, headers: { ...json, origin } })
    await call(`/api/client?signature=${secrets.query}`)
    await call(`/api/client/account/${secrets.query}?token=${secrets.query}`)
    const guest = await call('/api/client', { headers: { authorization: `Bearer ${secrets.token}` } })
    await arrived(({ traceId }) => traceId === guest.headers.get('x-request-id'))
    const { user, application_key, server, node } = panel.bootstrap as Record<string, any>
    const everything = receiver.requests.map(({ body }) => body.toString('latin1')).join('\n')
    for (const secret of [...Object.values(secrets), user.client_key, application_key, user.password])
      expect(everything).not.toContain(secret)
    const names = new Set(receiver.spans.map(({ name }) => name))
    expect([...names].filter((name) => /[\da-f]{8}|\d{3}/.test(name))).toEqual([])
    for (const id of [server.identifier, server.uuid, node?.uuid ?? server.uuid])
      expect([...names].join()).not.toContain(id)
    const texts = receiver.spans.map(({ attributes }) => attributes['db.query.text'] ?? '')
    expect(texts.filter((text) => text.includes(`'`))).toEqual([])
    expect(receiver.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-api-key': secrets.header, 'content-type': 'application/x-protobuf' },
    })
  })
})

describe('a receiver of traces that is away', { timeout: 120_000 }, () => {
  it('fails no request, is said once, and gets what comes when it is back; the last spans at the end', async () => {
    const port = await freePort()
    const panel = await startPanelProcess({
      ...often,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    })
    const said = () => panel.output().split('Traces cannot be sent').length - 1
    const read = () => panel.asPlayer('GET', '')
    try {
      for (let count = 0; count < 20 || said() === 0; count += 1) {
        expect((await read()).status).toBe(200)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      expect(panel.output()).toMatch(/Traces cannot be sent.*"cause":".*ECONNREFUSED/)
      const receiver = await startOtlpReceiver(port)
      await eventually(async () => (await read()).status === 200 && panel.output().includes('are sent again'))
      expect(said()).toBe(1)
      const { body } = await panel.asPlayer('GET', '/account')
      expect(body.object).toBe('user')
      await panel.stop()
      expect(receiver.spans.map(({ name }) => name)).toContain('GET /api/client/account')
      await receiver.close()
    } finally {
      await panel.stop()
    }
  })
})

describe('the variables of OpenTelemetry', { timeout: 120_000 }, () => {
  it('name a whole URL of their own for traces', async () => {
    const receiver = await startOtlpReceiver()
    const panel = await startPanelProcess({
      ...often,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/of/the/operator`,
    })
    try {
      expect((await panel.asPlayer('GET', '')).status).toBe(200)
      await eventually(() => receiver.spans.some(({ name }) => name === 'GET /api/client'))
      expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(['/of/the/operator']))
    } finally {
      await panel.stop()
      await receiver.close()
    }
  })

  it.each([
    ['OTEL_SDK_DISABLED', 'true'],
    ['OTEL_TRACES_EXPORTER', 'none'],
  ])('switch traces off: %s=%s', async (name, value) => {
    const receiver = await startOtlpReceiver()
    const panel = await startPanelProcess({
      ...often,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      [name]: value,
    })
    try {
      expect((await panel.asPlayer('GET', '')).status).toBe(200)
      // What is left is sent before it ends.
      await panel.stop()
      expect(receiver.requests).toEqual([])
    } finally {
      await panel.stop()
      await receiver.close()
    }
  })
})

describe('sampling', { timeout: 120_000 }, () => {
  it('is what the environment says, and passes the decision on to daemons and jobs', async () => {
    const receiver = await startOtlpReceiver()
    const panel = await startPanelProcess({
      ...often,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      OTEL_SERVICE_NAME: 'panel-of-the-test',
    })
    try {
      expect((await panel.asPlayer('GET', '')).status).toBe(200)
      await fetch(`${panel.bootstrap.url}/health`, {
        headers: { traceparent: `00-${caller.id}-${caller.span}-01` },
      })
      const health = await eventually(() => receiver.spans.find(({ name }) => name === 'GET /health') ?? null)
      expect(health.resource['service.name']).toBe('panel-of-the-test')
      await panel.stop()
      expect(receiver.spans.filter(({ traceId }) => traceId !== caller.id)).toEqual([])
    } finally {
      await panel.stop()
      await receiver.close()
    }
  })

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'localhost:4318/v1/traces'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a token'],
  ])('a wrong %s is refused at the start', async (name, value) => {
    await expect(startPanelProcess({ [name]: value })).rejects.toThrow(`${name}: `)
  })
})

const hasPostgres = await findPostgres('traces of two processes')

describe.skipIf(!hasPostgres || process.platform !== 'linux')('two processes', { timeout: 120_000 }, () => {
  let services: CloudServices
  let directory: string
  beforeAll(async () => {
    services = await openCloudServices()
    directory = await mkdtemp(join(tmpdir(), 'roost-traces-'))
  }, 120_000)
  afterAll(async () => {
    await services?.close()
    await rm(directory, { recursive: true, force: true })
  })

  it('both send their spans, and say which one they are', async () => {
    const receiver = await startOtlpReceiver()
    const port = await freePort()
    const panel = await startProcess('functions/all/start.js', {
      env: {
        ...often,
        APP_KEYS: services.environment.APP_KEYS ?? '',
        DATABASE_URL: services.environment.DATABASE_URL ?? '',
        DATA_DIR: directory,
        DEMO: 'false',
        HOST: '127.0.0.1',
        PORT: String(port),
        PROCESSES: '2',
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      },
      ready: /Roost serves at/,
    })
    const instances = () =>
      new Set(
        receiver.spans
          .filter(({ name }) => name === 'GET /health')
          .map(({ resource }) => resource['service.instance.id']),
      )
    await eventually(async () => {
      await (await fetch(`http://127.0.0.1:${port}/health`, { headers: { connection: 'close' } })).text()
      return instances().size === 2
    }, 60)
    await panel.stop()
    await receiver.close()
    const statement = receiver.spans.find(({ name }) => name === 'SELECT')
    expect(statement?.attributes).toMatchObject({ 'peer.service': 'database' })
  })
})
