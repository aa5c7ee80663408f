import { globSync, readFileSync } from 'node:fs'
import type { LookupAddress } from 'node:dns'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { httpCaptcha } from '../../src/adapters/captcha.ts'
import { type Egress, type EgressRule, egressRule, isNeverCalled } from '../../src/adapters/egress.ts'
import { resendMailer } from '../../src/adapters/mail.ts'
import { mysqlHosts } from '../../src/adapters/mysql-host.ts'
import { httpOauth } from '../../src/adapters/oauth.ts'
import { httpPasteService } from '../../src/adapters/paste.ts'
import { publicFetch } from '../../src/adapters/public-fetch.ts'
import { smtpMailer } from '../../src/adapters/smtp-mail.ts'
import { readEnv } from '../../src/platform/env.ts'
import { nodeDaemonFetch } from '../../src/platform/node-daemon-fetch.ts'
import { nodeEgress, type ResolveName } from '../../src/platform/node-egress.ts'
import { nodeGameQuery } from '../../src/platform/node-game-query.ts'
import { nodeProbe } from '../../src/platform/node-probe.ts'
import { nodeSendGet } from '../../src/platform/node-send-get.ts'
import { workersEgress } from '../../src/platform/workers-egress.ts'
import { defaultRule } from '../support/egress.ts'

/** Forms of addresses at which clouds hand out credentials, and of link-local ones. */
const metadata = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fe80::1',
  'febf::1',
  'fe80::a9fe:a9fe%eth0',
  'fd00:ec2::254',
  'fd00:ec2:0:0::23',
  'fd20:ce::254',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::169.254.169.254',
  '::ffff:0:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::169.254.1.1',
  '64:ff9b:1::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  '2001:0:4136:e378:8000:63bf:5601:5601',
  '2001:db8:64::a9fe:a9fe',
]
/** The same in notations that sockets and URLs read as addresses. */
const numbers = ['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.16689662', '169.254.43518']

let calls: string[] = []
let connections = 0
const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  calls.push(request.url ?? '')
  if (request.url === '/moved/1/log') response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
  else response.end('{"success":true,"url":"https://pastes.test/1"}')
})
const sink = createTcpServer((socket: Socket) => void ((connections += 1), socket.destroy()))
let port = 0
let sinkPort = 0

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  sinkPort = (sink.address() as AddressInfo).port
})
beforeEach(() => {
  calls = []
  connections = 0
})
afterAll(async () => {
  server.closeAllConnections()
  await Promise.all([server, sink].map((each) => new Promise((resolve) => each.close(resolve))))
})

/** Resolves every name to one list after the other, and to the last one from then on. */
function resolver(...answers: string[][]): ResolveName & { count: () => number } {
  let count = 0
  const resolve: ResolveName = (_name, _options, done) => {
    const found = answers[Math.min(count, answers.length - 1)] ?? []
    count += 1
    done(
      null,
      found.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return Object.assign(resolve, { count: () => count })
}

/** Returns the text of an error and of its causes. */
function reasons(error: unknown): string {
  const { message, cause } = error as Error
  return cause === undefined ? message : `${message} ${reasons(cause)}`
}

const from = { name: 'Roost', address: 'panel@example.test' }
const message = { to: 'a@b.test', from: { name: null, address: null }, subject: 's', text: 't', html: 'h' }
const client = {
  provider: 'oidc' as const,
  clientId: 'x',
  clientSecret: 'x',
  redirectUri: 'https://panel.test/callback',
}
const secrets = { state: 's', verifier: 'v', nonce: 'n' }
const attempt = { secret: 's', siteKey: 'k', response: 'r', ip: '192.0.2.1' }
const within = () => AbortSignal.timeout(5_000)
const bracketed = (host: string) => (host.includes(':') ? `[${host.replace(/%.*/, '')}]` : host)

/** Calls one of each kind of target at a host. */
const targets: [
  name: string,
  call: (
    egress: Egress,
    host: string,
    at: { http: number; tcp: number },
    rule: [EgressRule, ResolveName?],
  ) => unknown,
][] = [
  [
    'a node',
    (_egress, host, at, rule) =>
      nodeDaemonFetch(...rule)(`http://${bracketed(host)}:${at.http}/api/system`, {
        method: 'GET',
        headers: {},
        signal: within(),
      }),
  ],
  ['a node from Lambda', ({ fetch }, host, at) => fetch(`http://${bracketed(host)}:${at.http}/api/system`)],
  [
    'a paste service',
    ({ fetch }, host, at) => httpPasteService(fetch).upload(`http://${bracketed(host)}:${at.http}`, 'text'),
  ],
  [
    'an issuer',
    ({ fetch }, host, at) =>
      httpOauth(fetch).authorizationUrl(
        { ...client, issuer: `http://${bracketed(host)}:${at.http}` },
        secrets,
      ),
  ],
  [
    'a captcha provider',
    ({ fetch }, host, at) => {
      const url = `http://${bracketed(host)}:${at.http}/`
      return httpCaptcha(fetch, { urls: { turnstile: url, hcaptcha: url, recaptcha: url } }).isSolved(
        'turnstile',
        attempt,
      )
    },
  ],
  [
    'a mail provider',
    ({ fetch }, host, at) =>
      resendMailer({ endpoint: `http://${bracketed(host)}:${at.http}/`, token: 't', from, fetch }).send(
        message,
      ),
  ],
  [
    'a mail server',
    ({ connect }, host, at) =>
      smtpMailer({ url: `smtp://${bracketed(host)}:${at.tcp}`, from, connect }).send(message),
  ],
  [
    'a database host',
    (egress, host, at) =>
      mysqlHosts(egress)({ host, port: at.tcp, username: 'u', password: async () => 'p' }).ping(),
  ],
]

describe('NW-6: addresses that are never called', () => {
  it.each(metadata)('have %s among them', (address) => {
    expect(isNeverCalled(address)).toBe(true)
    expect(defaultRule(address)).toBe(false)
  })

  it('leave public and private ones alone', () => {
    for (const address of ['10.0.0.5', '192.168.1.1', '127.0.0.1', '::1', 'fd12::1', '8.8.8.8', '2a00::1'])
      expect([address, defaultRule(address), isNeverCalled(address)]).toEqual([address, true, false])
  })

  it('are refused whatever the operator allows', () => {
    const rule = egressRule(['169.254.0.0/16', 'fe80::/10', '0.0.0.0/0', '::/0'])
    expect(metadata.filter((address) => rule(address))).toEqual([])
  })
})

describe.each(targets)('%s', (_name, call) => {
  const rule: [EgressRule, ResolveName?] = [defaultRule]

  it.each([...metadata, ...numbers])('is not called at %s', async (host) => {
    const at = { http: 80, tcp: 80 }
    const error = await Promise.resolve(call(nodeEgress(defaultRule), host, at, rule)).catch(
      (e: unknown) => e,
    )
    expect(reasonsOrCode(error)).toMatch(/The panel does not call|ERR_EGRESS_REFUSED|Invalid URL/)
  })

  it('is not called by a name that leads there', async () => {
    for (const addresses of [['169.254.169.254'], ['fe80::1', '64:ff9b::a9fe:a9fe']]) {
      const names = resolver(addresses)
      const error = await Promise.resolve(
        call(nodeEgress(defaultRule, names), 'metadata.test', { http: port, tcp: sinkPort }, [
          defaultRule,
          names,
        ]),
      ).catch((e: unknown) => e)
      expect(reasonsOrCode(error)).toMatch(/The panel does not call|ERR_EGRESS_REFUSED/)
    }
    expect([calls, connections]).toEqual([[], 0])
  })

  it('is called at what its name led to when that was checked, and resolved no further', async () => {
    const names = resolver(['127.0.0.1'], ['169.254.169.254'])
    const at = { http: port, tcp: sinkPort }
    await Promise.resolve(
      call(nodeEgress(defaultRule, names), 'rebound.test', at, [defaultRule, names]),
    ).catch(() => null)
    expect([names.count(), calls.length + connections]).toEqual([1, 1])
  })

  it('is not called in a private network that the operator has not named', async () => {
    const only = egressRule(['10.20.0.0/16'])
    const names = resolver(['127.0.0.1'])
    const at = { http: port, tcp: sinkPort }
    for (const host of ['private.test', '127.0.0.1']) {
      const error = await Promise.resolve(call(nodeEgress(only, names), host, at, [only, names])).catch(
        (e: unknown) => e,
      )
      expect(reasonsOrCode(error)).toMatch(/EGRESS_PRIVATE_NETWORKS|ERR_EGRESS_REFUSED/)
    }
    expect([calls, connections]).toEqual([[], 0])
  })
})

const reasonsOrCode = (error: unknown) => (error instanceof Error ? reasons(error) : JSON.stringify(error))

describe('a name with several addresses', () => {
  it('is called at those that may be called', async () => {
    const names = resolver(['169.254.169.254', '127.0.0.1'])
    const { fetch, resolve } = nodeEgress(defaultRule, names)
    expect((await fetch(`http://both.test:${port}/one`)).status).toBe(200)
    expect(await resolve('both.test')).toEqual(['127.0.0.1'])
  })
})

describe('a redirect', () => {
  it('is not followed', async () => {
    const { fetch } = nodeEgress(defaultRule)
    await expect(httpPasteService(fetch).upload(`http://127.0.0.1:${port}/moved`, 'text')).rejects.toThrow(
      'The paste service answered 302.',
    )
    const response = await fetch(`http://127.0.0.1:${port}/moved/1/log`, { redirect: 'follow' })
    expect(response.status).toBe(302)
  })
})

describe('a game', () => {
  it.each(['minecraft', 'minecraftbedrock', 'valve'])(
    'of %s is not queried at a metadata address',
    async (game) => {
      const names = resolver(['169.254.169.254'])
      const query = nodeGameQuery(nodeEgress(defaultRule, names))
      for (const host of ['169.254.169.254', 'game.test'])
        expect(await query({ game, host, port: sinkPort, ownPorts: [sinkPort] })).toEqual({
          status: 'offline',
        })
      expect(connections).toBe(0)
    },
  )
})

describe('the look at a node', () => {
  it('says that its address is not called', async () => {
    const probe = nodeProbe(nodeEgress(defaultRule, resolver(['fe80::1'])))
    for (const host of ['node.test', '169.254.169.254'])
      expect(await probe({ host, port: sinkPort, isSecure: true })).toMatchObject({
        addresses: [],
        dnsError: 'ERR_EGRESS_REFUSED',
        isRefused: true,
      })
    expect(connections).toBe(0)
  })
})

describe('an import by URL', () => {
  it('reaches no metadata, even where its network is allowed', async () => {
    const fetchText = publicFetch(nodeSendGet, { allowedNetworks: ['0.0.0.0/0', '::/0'] })
    for (const host of [...metadata, ...numbers].map(bracketed)) {
      const fetched = await fetchText(new URL(`https://${host}/egg`))
      expect([host, 'refusal' in fetched && fetched.refusal.why.reason]).toEqual([host, 'address_not_public'])
    }
  })
})

describe('a Worker', () => {
  const { fetch, connect, resolve } = workersEgress(['0.0.0.0/0', '::/0'])

  it.each([...metadata, ...numbers, 'metadata.google.internal', 'METADATA', 'instance-data.ec2.internal.'])(
    'does not call %s',
    async (host) => {
      await expect(fetch(`http://${bracketed(host)}/`)).rejects.toThrow('The panel does not call')
      await expect(connect({ host, port: 80 }, within())).rejects.toThrow('The panel does not call')
      await expect(resolve(host)).rejects.toThrow('The panel does not call')
    },
  )
})

describe('the setting', () => {
  it.each([
    [undefined, ['0.0.0.0/0', '::/0']],
    ['none', []],
    ['10.0.0.0/8, fd12::/16', ['10.0.0.0/8', 'fd12::/16']],
  ])('%j names networks', (EGRESS_PRIVATE_NETWORKS, expected) => {
    expect(readEnv({ EGRESS_PRIVATE_NETWORKS }).EGRESS_PRIVATE_NETWORKS).toEqual(expected)
  })

  it('takes nothing else', () => {
    expect(() => readEnv({ EGRESS_PRIVATE_NETWORKS: 'all' })).toThrow('EGRESS_PRIVATE_NETWORKS: must be')
  })
})

/** Files with connections of their own: to what the environment names or is here, and the places that check. */
const ownConnections = [
  'src/adapters/queue.ts',
  // Addresses that an operator gives them.
  'src/cli/move-in/compare-wires.ts',
  'src/cli/setup/service-checks.ts',
  'src/cli/upgrade-check.ts',
  'src/domain/operations/object-store-test.ts',
  'src/platform/connect-timeout.ts',
  'src/platform/local/control-socket.ts',
  'src/platform/local/folder-lock.ts',
  'src/platform/neon.ts',
  'src/platform/node-daemon-fetch.ts',
  'src/platform/node-egress.ts',
  'src/platform/node-probe.ts',
  'src/platform/node-send-get.ts',
  'src/platform/workers-egress.ts',
  'src/platform/workers-game-query.ts',
  'src/platform/workers-send-get.ts',
]

describe('the code', () => {
  it('calls other machines in the places that check, and nowhere else', () => {
    const files = globSync('src/{adapters,cli,domain,http,platform,surfaces}/**/*.ts')
    const connecting = files.filter((file) =>
      /(?<![.\w])fetch\(|from 'node:https'|\{[^}]*\b(?:connect|request)\b[^}]*\} from '(?:node:(?:http|net|tls|dgram)|cloudflare:sockets)'/.test(
        readFileSync(file, 'utf8').replaceAll(/\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''),
      ),
    )
    expect(connecting.toSorted()).toEqual(ownConnections)
  })
})
