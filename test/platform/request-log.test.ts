import { beforeEach, describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { causeOf, log, setLogLevel } from '../../src/log.ts'
import { known, makeClientToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { useLogLines } from '../support/log-lines.ts'
import { type RequestOptions, useWorld } from '../support/world.ts'

const world = useWorld()
const logged = useLogLines()
const requests = () => logged.lines().filter(({ message }) => message === 'request')

/** Texts that must not be in a log. */
const canary = 'c4n4ry'

describe('the log', () => {
  it('has one line for a request: who, which route, how it ended, and what it cost', async () => {
    const user = await makeUser(world)
    const server = await makeServer(world, { ownerId: user.id })
    const token = await makeClientToken(world, user)
    const { headers } = await world.request('GET', `/api/client/servers/${server.uuid}?page=1`, { token })
    expect(requests()).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        level: 'info',
        message: 'request',
        request: headers.get('x-request-id'),
        method: 'GET',
        route: '/api/client/servers/:server',
        surface: 'client',
        status: 200,
        milliseconds: expect.any(Number),
        statements: 1,
        actor: 'user',
        actor_id: user.id,
      },
    ])
  })

  it('counts the time that a request waited before it reached the app', async () => {
    const arrivedAt = performance.now() - 5000
    await world.app.fetch(new Request('http://panel.test/health'), { arrivedAt })
    const [line] = requests()
    expect(line?.milliseconds).toBeGreaterThanOrEqual(5000)
  })

  it('names nodes and guests as such, and what was refused by its code', async () => {
    const node = await makeNode(world)
    await world.request('GET', '/api/remote/servers?page=0&per_page=50', { token: node.token })
    await world.request('GET', '/api/client')
    await world.request('GET', '/nothing/here')
    await world.request('DELETE', '/health')
    expect(requests()).toMatchObject([
      { surface: 'remote', route: '/api/remote/servers', actor: 'node', actor_id: node.id, status: 200 },
      { surface: 'client', actor: 'guest', actor_id: null, status: 401, error: 'AuthenticationException' },
      { surface: 'browser', route: null, status: 404 },
      { surface: 'browser', route: null, method: 'DELETE', status: 405 },
    ])
  })

  it('tells the statements of requests apart that run at the same time', async () => {
    const token = await makeClientToken(world, await makeUser(world))
    await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        n % 2 === 0
          ? world.request('GET', '/api/client/account', { token })
          : world.request('GET', '/nothing'),
      ),
    )
    const costs = Map.groupBy(requests(), ({ status }) => Number(status))
    expect(costs.get(200)?.map(({ statements }) => statements)).toEqual([1, 1, 1])
    expect(costs.get(404)?.map(({ statements }) => statements)).toEqual([0, 0, 0])
  })

  it('has no more than it is asked for', () => {
    const say = () => (['debug', 'info', 'warn', 'error'] as const).forEach((level) => log(level, level))
    for (const level of ['error', 'off', 'debug'] as const) {
      setLogLevel(level)
      say()
    }
    expect(logged.lines().map(({ message }) => message)).toEqual(['error', 'debug', 'info', 'warn', 'error'])
  })

  it('takes fields of a list, each of them short', () => {
    log('warn', 'so', { cause: 'x'.repeat(1000), stack: ['y'.repeat(1000)], password: canary } as object)
    expect(logged.lines()).toEqual([
      {
        time: expect.any(String),
        level: 'warn',
        message: 'so',
        cause: 'x'.repeat(300),
        stack: ['y'.repeat(300)],
      },
    ])
  })
})

describe('SE-2: what callers send', () => {
  const hostile = () => ({
    token: `${canary}token`,
    headers: {
      cookie: `roost_session=${canary}`,
      'user-agent': canary,
      referer: `https://example.test/${canary}`,
      'x-forwarded-for': canary,
      'x-request-id': canary,
      'upstash-signature': canary,
      traceparent: `00-${canary}-${canary}-01`,
      host: `${canary}.example.test`,
    },
  })

  it.each(listMountedRoutes().map(({ method, path }) => [`${method} ${path}`, method, path]))(
    'is in no line of %s',
    async (_name, method, path) => {
      const hidden = path.replace(/:\w+(\{[^}]*\})?/g, canary)
      const body = method === 'GET' ? {} : { raw: JSON.stringify({ [canary]: canary, email: canary }) }
      await world.request(method, `${hidden}?token=${canary}&filter[name]=${canary}`, {
        ...hostile(),
        ...body,
      })
      expect(requests()).toHaveLength(1)
      expect(logged.text()).not.toContain(canary)
    },
  )

  it('is in no line about input in a query, whether it is taken, refused or fails', async () => {
    const user = await makeUser(world, { passwordHash: known.passwordHash })
    const server = await makeServer(world, { owner: user })
    const token = await makeClientToken(world, user)
    const path = `/api/client/servers/${server.uuid}`
    const ask = async (method: string, target: string, options: RequestOptions) =>
      (await world.request(method, target, options)).status
    // The node of the server does not answer.
    expect(await ask('POST', `${path}/command?command=say+${canary}`, { token })).toBeGreaterThanOrEqual(500)
    expect(await ask('POST', `${path}/power?signal=${canary}`, { token })).toBe(422)
    expect(
      await ask('PUT', `/api/client/account/email?email=${canary}@a.test&password=${canary}`, { token }),
    ).toBe(400)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(
      await ask('POST', `${path}/settings/rename?description=${canary}`, {
        token,
        raw: `name=${canary}`,
        headers: form,
      }),
    ).toBe(204)
    const json = { raw: JSON.stringify({ search: canary }), headers: { 'content-type': 'application/json' } }
    expect(
      await ask('POST', `/api/client/account/api-keys?description=${canary}`, { token, ...json }),
    ).toBeLessThan(500)
    expect(requests()).toHaveLength(5)
    expect(logged.text()).not.toContain(canary)
  })

  it('is in no line about unknown paths, methods and bodies', async () => {
    await world.request('GET', `/api/client/${canary}/${canary}`, hostile())
    await world.request('GET', `/${canary}%2f${canary}`, hostile())
    await world.app.request(`http://panel.test/${canary}`, { method: canary })
    await world.request('POST', '/auth/login', { raw: `{"password": "${canary}` })
    expect(requests().map(({ method }) => method)).toEqual(['GET', 'GET', 'other', 'POST'])
    expect(logged.text()).not.toContain(canary)
  })

  describe('and a part repeats in its failure', () => {
    let token: string
    beforeEach(async () => {
      token = await makeClientToken(world, await makeUser(world))
    })

    it.each([
      ['a command', new Error(`ERR wrong type, command was: [["set","${canary}"]]`)],
      [
        'an address',
        new TypeError(`Failed to parse URL from https://name:${canary}@cache.test/?t=${canary}`),
      ],
      ['an answer', new SyntaxError(`Unexpected token 'c', "${canary}" is not valid JSON`)],
      ['a value', Object.assign(new Error(`invalid input syntax: "${canary}"`), { code: '22P02' })],
      ['parameters', new Error(`Failed query\nparams: ${canary}`, { cause: new Error('gone') })],
    ])('as %s, is in no line', async (_name, failure) => {
      const hit = () => Promise.reject(failure)
      Object.assign(world.services, { cache: { ...world.services.cache, hit } })
      await world.request('GET', '/api/client/account', { token })
      expect(logged.lines()).toMatchObject([{ message: 'Requests are not counted.' }, { message: 'request' }])
      expect(logged.text()).not.toContain(canary)
    })
  })
})

it('a missing rate limiter is logged once, not for each request', async () => {
  const hit = () => Promise.reject(new Error('gone'))
  Object.assign(world.services, { cache: { ...world.services.cache, hit } })
  const token = await makeClientToken(world, await makeUser(world))
  for (const _ of [1, 2, 3]) await world.request('GET', '/api/client/account', { token })
  const warnings = logged.lines().filter(({ level }) => level === 'warn')
  expect(warnings).toMatchObject([
    { message: 'Requests are not counted.', throttle: 'client', cause: 'gone' },
  ])
})

describe('the cause of a failure', () => {
  it('is what lies at its root', () => {
    const outer = new Error('Failed query: select', {
      cause: new Error('connect ECONNREFUSED 127.0.0.1:5432'),
    })
    expect(causeOf(outer)).toBe('connect ECONNREFUSED 127.0.0.1:5432')
    const constraint = 'duplicate key value violates unique constraint "users_email_index"'
    expect(causeOf(Object.assign(new Error(constraint), { code: '23505' }))).toBe(constraint)
    expect(causeOf('thrown text')).toBe('string')
  })
})
