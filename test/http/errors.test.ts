import { HTTPException } from 'hono/http-exception'
import postgres from 'postgres'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import {
  conflict,
  databaseHostFailure,
  invalid,
  notFound,
  overloaded,
  unauthenticated,
  unavailable,
} from '../../src/errors.ts'
import { ask, tinyApp } from './tiny-app.ts'

const lines: string[] = []
beforeEach(() => {
  lines.length = 0
  vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line))
})

const failing = (failure: () => unknown) => {
  const app = tinyApp().get('/things/:thing', async () => {
    throw await failure()
  })
  return ask(app, 'GET', '/things/1?secret=query')
}

/** Returns the error of a query when nothing listens at the address of the database. */
async function lostConnection(): Promise<unknown> {
  const client = postgres('postgres://user:s3cret@127.0.0.1:9/none', { max: 1, connect_timeout: 2 })
  try {
    return await client`select 1`
  } catch (failure) {
    return new Error('Failed query: select 1\nparams: s3cret', { cause: failure })
  } finally {
    await client.end({ timeout: 0 })
  }
}

const coded = (code: string) => Object.assign(new Error(`params: s3cret ${code}`), { code })

describe('a refusal', () => {
  it('has one shape', async () => {
    const { status, body, headers } = await failing(() =>
      conflict('server_suspended', 'The server is suspended.', { code: 'SomeException' }),
    )
    expect(status).toBe(409)
    expect(body).toEqual({
      errors: [
        {
          code: 'SomeException',
          status: '409',
          detail: 'The server is suspended.',
          meta: { reason: 'server_suspended' },
        },
      ],
    })
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(lines).toEqual([])
  })

  it('names field and rule of each failure', async () => {
    const failures = ['a.b', 'c'].map((field) => ({
      field,
      rule: 'required',
      detail: `The ${field} field is required.`,
    }))
    const { body } = await failing(() => invalid(failures))
    expect(body.errors.map(({ meta }: { meta: unknown }) => meta)).toEqual([
      { source_field: 'a.b', rule: 'required' },
      { source_field: 'c', rule: 'required' },
    ])
  })

  it('brings its headers along', async () => {
    expect((await failing(() => unauthenticated())).headers.get('www-authenticate')).toBe('Bearer')
    expect((await failing(() => unavailable('panel_upgrading', 'Later.'))).headers.get('retry-after')).toBe(
      '5',
    )
  })

  it('is logged when it is unexpected', async () => {
    await failing(() =>
      databaseHostFailure(502, 'database_host_refused', 'The host said no.', {
        cause: new Error('socket hang up'),
      }),
    )
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      status: 502,
      route: '/things/:thing',
      cause: 'socket hang up',
    })
  })
})

describe('a failure', () => {
  it('is answered without its detail', async () => {
    const { status, body, text } = await failing(() => new Error('params: s3cret', { cause: coded('23505') }))
    expect(status).toBe(500)
    expect(body.errors).toEqual([
      {
        code: 'InternalServerError',
        status: '500',
        detail: expect.any(String),
        meta: { reason: 'unexpected_error' },
      },
    ])
    expect(text).not.toMatch(/s3cret|23505/)
  })

  it('is logged by its place, without the query of the address', async () => {
    await failing(() => new TypeError('Cannot read properties of undefined'))
    const [line = ''] = lines
    expect(JSON.parse(line)).toMatchObject({
      level: 'error',
      method: 'GET',
      route: '/things/:thing',
      status: 500,
      error: 'TypeError',
    })
    expect(JSON.parse(line).stack.length).toBeGreaterThan(0)
    expect(line).not.toContain('secret=query')
  })

  it('is a passing one when the database cannot be reached', async () => {
    const { status, body, headers, text } = await failing(lostConnection)
    expect([status, body.errors[0].code]).toEqual([503, 'ServiceUnavailableHttpException'])
    expect(headers.get('retry-after')).toBe('5')
    expect(text).not.toMatch(/s3cret|127\.0\.0\.1/)
  })

  it.each(['08006', '57P01', '53300', 'ECONNREFUSED', 'ETIMEDOUT', 'CONNECTION_CLOSED', 'CONNECT_TIMEOUT'])(
    'is a passing one with the code %s, however deep it lies',
    async (code) => {
      expect((await failing(() => coded(code))).status).toBe(503)
      expect(
        (await failing(() => new Error('outer', { cause: new Error('inner', { cause: coded(code) }) })))
          .status,
      ).toBe(503)
    },
  )

  it.each(['23505', '42P01', '22P02', 'ERR_INVALID_ARG_TYPE'])('is ours with the code %s', async (code) => {
    expect((await failing(() => coded(code))).status).toBe(500)
  })

  it('of too many requests at once has one line a minute, which is a warning', async () => {
    const warnings = vi.spyOn(console, 'warn').mockReturnValue()
    for (let at = 0; at < 3; at += 1) {
      const { status, body, headers } = await failing(() =>
        overloaded('panel_overloaded', 'Try again in a moment.'),
      )
      expect([status, body.errors[0].code]).toEqual([503, 'ServiceOverloadedException'])
      expect(headers.get('retry-after')).toBe('5')
    }
    expect([lines, warnings.mock.calls.length]).toEqual([[], 1])
  })

  it('of the router keeps its status', async () => {
    expect(await failing(() => new HTTPException(415, { message: 'Not that.' }))).toMatchObject({
      status: 415,
      body: { errors: [{ code: 'HttpException', detail: 'Not that.' }] },
    })
  })
})

describe('a path without a route', () => {
  const app = tinyApp()
    .get('/things/:thing', (c) => c.text('got'))
    .put('/things/:thing', (c) => c.text('put'))

  it('is not found', async () => {
    expect(await ask(app, 'GET', '/nothing')).toMatchObject({
      status: 404,
      body: { errors: [{ code: 'NotFoundHttpException', status: '404' }] },
    })
    expect((await failing(() => notFound())).status).toBe(404)
  })

  it('that another method has is told so', async () => {
    const { status, headers } = await ask(app, 'POST', '/things/1')
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, PUT'])
    expect((await ask(app, 'GET', '/things/1/')).text).toBe('got')
  })
})
