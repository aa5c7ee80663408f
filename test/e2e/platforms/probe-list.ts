import { gzipSync } from 'node:zlib'
import type { Probe, Recorded } from './probe.ts'
import type { WireRequest } from './wire.ts'

const json = { 'content-type': 'application/json' }
const garbage: WireRequest = { body: '{"page":', headers: json }
const asksForBearer = { 'www-authenticate': 'Bearer' }
const locations = '/api/application/locations'

const probe = (
  title: string,
  call: Probe['call'],
  answer: string,
  more: { request?: WireRequest; headers?: Recorded['headers'] } = {},
): Probe => ({
  title,
  call,
  expected: { answer, ...(more.headers ? { headers: more.headers } : {}) },
  ...(more.request ? { request: more.request } : {}),
})

const bodies = [
  probe('a GET with an object as its body, for administrators', `admin GET ${locations}`, '200 list of 1', {
    request: { json: { per_page: 1 } },
  }),
  probe('a GET with an object as its body, for players', 'player GET /api/client', '200 list of 1', {
    request: { json: { per_page: 1 } },
  }),
  probe(
    'a GET with an object as its body, for daemons',
    'node GET /api/remote/servers',
    '200 data, links, meta',
    { request: { json: { per_page: 1 } } },
  ),
  probe(
    'a GET with broken JSON, for administrators',
    `admin GET ${locations}`,
    '400 BadRequestHttpException',
    {
      request: garbage,
    },
  ),
  probe('a GET with broken JSON, for players', 'player GET /api/client', '400 BadRequestHttpException', {
    request: garbage,
  }),
  probe(
    'a GET with broken JSON, for daemons',
    'node GET /api/remote/servers',
    '400 BadRequestHttpException',
    {
      request: garbage,
    },
  ),
  probe('a GET with bytes as its body', 'player GET /api/client/servers/SERVER', '200 server', {
    request: { body: Buffer.from([0, 255, 254]), headers: { 'content-type': 'application/octet-stream' } },
  }),
  probe('a POST without a body', `admin POST ${locations}`, '422 ValidationException short: required'),
  probe(
    'a POST with an empty body that is said to be JSON',
    `admin POST ${locations}`,
    '422 ValidationException short: required',
    { request: { body: '', headers: json } },
  ),
  probe('a POST with an empty list', `admin POST ${locations}`, '422 ValidationException short: required', {
    request: { json: [] },
  }),
  probe('a POST with a text in JSON', `admin POST ${locations}`, '400 BadRequestHttpException', {
    request: { json: 'text' },
  }),
  probe('a POST with broken JSON', `admin POST ${locations}`, '400 BadRequestHttpException', {
    request: { body: '{"short":', headers: json },
  }),
  probe(
    'a POST with JSON that is no UTF-8',
    'player POST /api/client/servers/SERVER/power',
    '422 ValidationException signal: in',
    { request: { body: Buffer.from('{"signal":"\xff"}', 'latin1'), headers: json } },
  ),
  probe('a POST with a body that is packed', `admin POST ${locations}`, '400 BadRequestHttpException', {
    request: { body: gzipSync('{"short":"packed"}'), headers: { ...json, 'content-encoding': 'gzip' } },
  }),
  probe(
    'a POST with a body that is too long',
    `admin POST ${locations}`,
    '413 PayloadTooLargeHttpException',
    {
      request: { json: { short: 'x'.repeat(300_000) } },
    },
  ),
  probe(
    'a POST with several faults',
    `admin POST ${locations}`,
    '422 ValidationException short: required, ValidationException long: between',
    { request: { json: { short: '', long: 'x'.repeat(192) } } },
  ),
]

const methods = [
  probe('a method that a path does not have', `admin PUT ${locations}`, '405 MethodNotAllowedHttpException', {
    request: { json: {} },
    headers: { allow: 'GET, HEAD, POST' },
  }),
  probe('such a method without a credential', `guest PUT ${locations}`, '401 AuthenticationException', {
    headers: asksForBearer,
  }),
  probe('a method that no path has', 'player PROPFIND /api/client', '405 MethodNotAllowedHttpException', {
    headers: { allow: 'GET, HEAD' },
  }),
  probe('HEAD of a list', `admin HEAD ${locations}`, '200'),
  probe('HEAD of what is not there', 'admin HEAD /api/application/nothing', '404'),
  probe('OPTIONS', 'player OPTIONS /api/client', '405 MethodNotAllowedHttpException', {
    headers: { allow: 'GET, HEAD' },
  }),
  probe('OPTIONS without a credential', 'guest OPTIONS /api/client', '401 AuthenticationException', {
    headers: asksForBearer,
  }),
]

const credentials = [
  probe('no credential on the Application API', `guest GET ${locations}`, '401 AuthenticationException', {
    headers: asksForBearer,
  }),
  probe('no credential on the Client API', 'guest GET /api/client', '401 AuthenticationException', {
    headers: asksForBearer,
  }),
  probe('no credential on the remote API', 'guest GET /api/remote/servers', '401 AuthenticationException', {
    headers: asksForBearer,
  }),
  probe('the key of a player', `player GET ${locations}`, '403 AccessDeniedHttpException'),
  probe('a malformed daemon token', 'guest GET /api/remote/servers', '400 BadRequestHttpException', {
    request: { bearer: 'no-dot' },
  }),
  probe('an unsigned message', 'guest POST /jobs/run', '401 AuthenticationException', {
    request: { json: { job: 'x' } },
    headers: asksForBearer,
  }),
  probe('an unsigned tick', 'guest POST /jobs/tick', '401 AuthenticationException', {
    headers: asksForBearer,
  }),
  probe('a message by GET', 'guest GET /jobs/run', '401 AuthenticationException', {
    headers: asksForBearer,
  }),
]

const paths = [
  probe('a path that is nowhere', 'guest GET /api/nothing', '404 NotFoundHttpException'),
  probe(
    'a path that is nowhere, for administrators',
    'admin GET /api/application/nothing',
    '404 NotFoundHttpException',
  ),
  probe('a slash at the end', `admin GET ${locations}/`, '200 list of 1'),
  probe('two slashes at the beginning', `admin GET /${locations}`, '400 BadRequestHttpException'),
  probe('an encoded slash', 'admin GET /api/application%2flocations', '400 BadRequestHttpException'),
  probe('an encoded backslash', 'player GET /api%5cclient', '400 BadRequestHttpException'),
  probe('an encoded NUL', 'player GET /api/client/%00', '400 BadRequestHttpException'),
  probe('dots in a path', 'admin GET /api/application/x/../locations', '200 list of 1'),
  probe('encoded dots in a path', 'admin GET /api/application/x/%2e%2e/locations', '200 list of 1'),
  probe(
    'another script in a path',
    'player GET /api/client/servers/%E6%9D%B1%E4%BA%AC',
    '404 NotFoundHttpException',
  ),
  probe(
    'an encoded question mark in a path',
    'player GET /api/client/servers/a%3Fb',
    '404 NotFoundHttpException',
  ),
  probe(
    'an encoded percent sign in a path',
    'player GET /api/client/servers/a%252fb',
    '404 NotFoundHttpException',
  ),
  probe('an encoding that is broken', 'player GET /api/client/servers/%zz', '404 NotFoundHttpException'),
  probe('an id that is none', `admin GET ${locations}/abc`, '404 NotFoundHttpException'),
]

const queries = [
  probe('a filter, a sort and a page', `admin GET ${locations}?filter[short]=HERE&sort=-id`, '200 list of 1'),
  probe('encoded brackets', `admin GET ${locations}?filter%5Bshort%5D=nowhere`, '200 list of 0'),
  probe('another script', `admin GET ${locations}?filter[short]=%E6%9D%B1`, '200 list of 0'),
  probe(
    'a filter that is given twice',
    `admin GET ${locations}?filter[short]=here&filter[short]=nowhere`,
    '200 list of 0',
  ),
  probe('relations in one word', `admin GET ${locations}?include=nodes,servers`, '200 list of 1'),
  probe('relations as a list', `admin GET ${locations}?include[]=nodes&include[]=servers`, '200 list of 1'),
  probe(
    'a relation that is given twice',
    `admin GET ${locations}?include=nodes&include=servers`,
    '200 list of 1',
  ),
  probe('a query that is no UTF-8', `admin GET ${locations}?filter[short]=a%FFb`, '200 list of 0'),
  probe('a query whose encoding is broken', `admin GET ${locations}?filter[short]=%zz`, '200 list of 0'),
  probe('a page that is none', `admin GET ${locations}?per_page=abc&page=0`, '200 list of 1'),
]

const headers = [
  probe('a header with two values', 'player GET /api/client', '200 list of 1', {
    request: { headers: { accept: ['text/html', 'application/json'] } },
  }),
  probe('a condition that the API does not know', 'player GET /api/client', '200 list of 1', {
    request: { headers: { 'if-none-match': '*' } },
  }),
  probe('a part of an answer', 'guest GET /api/client', '401 AuthenticationException', {
    request: { headers: { range: 'bytes=0-3' } },
    headers: asksForBearer,
  }),
  probe('a malformed cookie of another site', 'player GET /api/client', '200 list of 1', {
    request: { headers: { cookie: 'a="b c"; bad cookie' } },
  }),
  probe('cookies in two headers', 'player GET /api/client', '200 list of 1', {
    request: { headers: { cookie: ['a=1', 'b=2'] } },
  }),
]

const cookiesOfGuest = {
  roost_session: ['httponly', 'path=/', 'samesite=lax'],
  'XSRF-TOKEN': ['path=/', 'samesite=lax'],
}

const browsers = [
  probe('the cookies of a guest', 'guest GET /sanctum/csrf-cookie', '204', {
    headers: { 'set-cookie': cookiesOfGuest },
  }),
  probe('a page for those who are signed in', 'guest GET /', '302', {
    headers: { location: '/auth/login' },
  }),
  probe('an address that does not exist', 'guest GET /nowhere', '404 NotFoundHttpException'),
  probe('a page that does not exist', 'guest GET /nowhere', '404 page', {
    request: { headers: { accept: 'text/html' } },
    headers: { 'set-cookie': cookiesOfGuest },
  }),
  probe('a session', 'browser GET /api/client/account', '200 user'),
  probe('a session that does not exist', 'guest GET /api/client/account', '401 AuthenticationException', {
    request: { headers: { cookie: 'roost_session=unknown; XSRF-TOKEN=x' } },
    headers: asksForBearer,
  }),
  probe('a change without the word of a page', 'browser POST /auth/logout', '419 HttpException', {
    request: { headers: { 'x-xsrf-token': '' } },
  }),
  probe('a change from a foreign page', 'browser POST /auth/logout', '419 HttpException', {
    request: { headers: { origin: 'http://evil.test' } },
  }),
  probe(
    'a picture that does not exist',
    'guest GET /avatars/00000000000000000000000000000000.png',
    '404 NotFoundHttpException',
  ),
  probe('a file that does not exist', 'guest GET /assets/nothing.js', '404 NotFoundHttpException'),
  probe('numbers without a token', 'guest GET /metrics', '404 NotFoundHttpException'),
]

/** Requests that every platform answers alike; `differences.ts` lists the exceptions. */
export const probes: Probe[] = [
  ...bodies,
  ...methods,
  ...credentials,
  ...paths,
  ...queries,
  ...headers,
  ...browsers,
]
