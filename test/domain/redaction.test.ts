import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { redact } from '../../src/redaction.ts'

const hex = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const base64 = 'q0zR9vVt2Xh8KcLw4yTn6uEaJs1mBdGfPo3iQxZ5rYk='
const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${base64.slice(0, 43)}`
const clientKey = `ptlc_Zq3VtR8mWk1${'h7Yp0cQn4sLd9FvBz2XkTg6RwJ1mUeAo'}`

describe('a redacted log', () => {
  it.each([
    ['an IPv4 address', 'bob[/203.0.113.9:51234] logged in', 'bob[/[address]:51234] logged in'],
    ['one at the end of a sentence', 'Lost 203.0.113.9.', 'Lost [address].'],
    ['one after a colour', '\u001b[32m203.0.113.9\u001b[0m joined', '[address] joined'],
    ['an IPv6 address', 'from 2001:DB8::7, again', 'from [address], again'],
    ['one in brackets', '[2001:db8::7]:25565', '[[address]]:25565'],
    ['one in full with its port', '/2001:db8:0:0:0:0:0:1:51234', '/[address]:51234'],
    ['one behind a label', 'peer:2001:db8::7: timed out', 'peer:[address]: timed out'],
    ['one at the end of a sentence', 'Lost fe80::1.', 'Lost [address].'],
    ['one with a zone', 'fe80::1%eth0 is up', '[address]%eth0 is up'],
    ['IPv4 within IPv6', '::ffff:203.0.113.9 joined', '[address] joined'],
    ['an e-mail address', 'mail to mara.k+x@example.org.', 'mail to [e-mail].'],
    ['a password', 'rcon.password=hunter2', 'rcon.password=[redacted]'],
    ['one in YAML', '  Password: hunter2 # x', '  Password: [redacted] # x'],
    ['one in JSON', '{"dbPassword":"hunter 2","a":1}', '{"dbPassword":[redacted]","a":1}'],
    ['one in JSON within JSON', '{\\"secret\\":\\"hunter2\\"}', '{\\"secret\\":[redacted]"}'],
    ['one whose quote is missing', 'passwd="hunter2', 'passwd=[redacted]'],
    ['one in Ruby', ':api_key => hunter2', ':api_key => [redacted]'],
    ['one in a query', 'GET /x?user=a&pass=hunter2&b=1', 'GET /x?user=a&pass=[redacted]&b=1'],
    ['one typed as a command', 'bob issued: /login hunter2 hunter2', 'bob issued: /login [redacted]'],
    ['one in an address', 'mysql://u4:p4ss:w@db:3306/x', 'mysql://[redacted]@db:3306/x'],
    ['a header', 'Authorization: Basic dTpw', 'Authorization: [redacted]'],
    ['a cookie', 'set-cookie: a=b; c=d', 'set-cookie: [redacted]'],
    ['a bearer token', 'with bearer abcdefgh.12', 'with bearer [redacted]'],
    ['a JWT', `ws?t=${jwt}&x`, 'ws?t=[redacted]&x'],
    ['a key of this panel', `key ${clientKey}!`, 'key [redacted]!'],
    ['an Application key', `key ${clientKey.replace('ptlc', 'ptla')}!`, 'key [redacted]!'],
    ['hexadecimal digits', `digest ${hex} ok`, 'digest [redacted] ok'],
    ['a secret in Base64', `use ${base64} now`, 'use [redacted]= now'],
  ])('has no longer %s', (_name, log, expected) => {
    expect(redact(log)).toBe(expected)
  })

  it.each([
    ['loopback', '127.0.0.1:25565 127.8.8.8 ::1 [::1]:80 ::ffff:127.0.0.1'],
    ['every address', 'Listening on 0.0.0.0:25565 and [::]:25565'],
    ['times', '[12:34:56] [Server thread/INFO]: 2031-06-07T01:02:03+00:00'],
    ['versions', 'Paper 1.21.4 build 232, API 1.21.4-R0.1-SNAPSHOT'],
    [
      'names of classes',
      'at net.minecraft.server.dedicated.DedicatedServer.initServer(DedicatedServer.java:42)',
    ],
    ['paths', '/home/container/plugins/LuckPerms-Bukkit-5.4.102.jar'],
    ['uuids', 'UUID of player bob is 7c1e90ab-52d4-4f0e-9a61-0b7d5c2f8e13'],
    ['numbers', 'seed -4411883012345678901234567890123456789'],
    ['objects', 'java.lang.Object@1a2b3c4d'],
    ['qualified names', 'std::vector<int> foo::bar'],
    ['several lines', 'one\n\ttwo\r\n\n  three \u00e9\u{1f600}\n'],
    ['nothing', ''],
  ])('still has %s', (_name, log) => {
    expect(redact(log)).toBe(log)
  })

  it('has no private key, whole or cut off', () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim()
    expect(redact(`a\n${pem}\nb\n${pem}\nc`)).toBe('a\n[private key]\nb\n[private key]\nc')
    expect(redact(`a ${pem.slice(0, 60)}`)).toBe('a [private key]')
    expect(redact('a -----BEGIN OPENSSH PRIVATE KEY-----\nx')).toBe('a [private key]')
  })
})

describe('the time it takes', () => {
  const length = 128 * 1024
  const seeds = [
    'a',
    '1',
    '.',
    ':',
    '-',
    '@',
    '=',
    '/',
    '"',
    ' ',
    '\n',
    '\u001b',
    '\u001b[',
    '\u001b]',
    '1.',
    '1:',
    'a:',
    '::',
    'a@',
    'a.',
    'a@a.',
    '//',
    '//a:',
    '//a:b',
    '-----',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN ',
    'eyJ',
    'eyJa.',
    'eyJa.a.',
    'ptlc_',
    'password',
    'password=',
    'password="',
    "password='",
    'password\\"',
    'passtoken',
    'bearer ',
    'bearer',
    'cookie',
    'cookie ',
    'authorization: ',
    '/login ',
    '/login',
    '1.1.1.',
    '255.255.255.255',
    'ffff:',
    'aA1',
    '\u001b[1;',
    '\u001b[ ',
    '%',
    '+',
    '[redacted]',
    'secret \t',
    'a\t',
    '\u00e9',
    'set-cookie"',
  ]

  it('grows with the length alone, whatever the log holds', () => {
    const slow: string[] = []
    for (const seed of seeds) {
      for (const end of ['', '!', '@', '.', '"', '-----END PRIVATE KEY-----', '\u0007']) {
        const log = seed.repeat(Math.ceil(length / seed.length)).slice(0, length) + end
        const before = process.cpuUsage()
        redact(log)
        const took = process.cpuUsage(before).user / 1000
        if (took > 500) slow.push(`${JSON.stringify(seed)} and ${JSON.stringify(end)}: ${took.toFixed(0)} ms`)
      }
    }
    expect(slow).toEqual([])
  })
})
