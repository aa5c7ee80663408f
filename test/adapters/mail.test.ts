import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, describe, expect, it } from 'vitest'
import { postmarkMailer, requireEmailAddress, resendMailer, formatMailbox } from '../../src/adapters/mail.ts'
import { smtpMailer } from '../../src/adapters/smtp-mail.ts'
import { testEgress } from '../support/egress.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const from = { name: 'Roost', address: 'panel@example.test' }
const message = {
  to: 'mara@example.test',
  from: { name: null, address: null },
  subject: 'Grüße, 東京',
  text: 'Text – of it\n.\nend\n',
  html: '<p>Grüße</p>',
}
const hostileName = 'Eve"\r\nBcc: all@example.test\r\n\r\n<x>, Ångström'
const badAddresses = [
  'a@example.test, b@example.test',
  'a@example.test\r\nBcc: b@example.test',
  'A <a@example.test>',
  'a@b@example.test',
  'a;b@example.test',
  'a@example.test\u2028',
  '',
  'a',
]

type Call = { method: string; headers: Record<string, unknown>; body: any }

/** Starts a provider that responds with `status` to every request. */
async function startProvider(status = 200): Promise<{ endpoint: string; calls: Call[] }> {
  const calls: Call[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      calls.push({ method: request.method ?? '', headers: request.headers, body: JSON.parse(body || 'null') })
      response.writeHead(status, { location: '/elsewhere' }).end('{"id":"1"}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise((resolve) => server.close(resolve)))
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/send`, calls }
}

describe('mail through Resend', () => {
  it('is one call with a bearer token', async () => {
    const { endpoint, calls } = await startProvider()
    await resendMailer({ endpoint, token: 're_secret', from, ...testEgress }).send(message)
    const { to, subject, text, html } = message
    expect(calls).toMatchObject([
      {
        method: 'POST',
        headers: { authorization: 'Bearer re_secret', 'content-type': 'application/json' },
      },
    ])
    expect(calls[0]?.body).toEqual({ from: '"Roost" <panel@example.test>', to, subject, text, html })
  })
})

describe('mail through Postmark', () => {
  it('is one call with the token of the server', async () => {
    const { endpoint, calls } = await startProvider()
    await postmarkMailer({ endpoint, token: 'pm_secret', from, ...testEgress }).send(message)
    expect(calls[0]?.headers).toMatchObject({ 'x-postmark-server-token': 'pm_secret' })
    expect(calls[0]?.headers.authorization).toBeUndefined()
    expect(calls[0]?.body).toEqual({
      From: '"Roost" <panel@example.test>',
      To: message.to,
      Subject: message.subject,
      TextBody: message.text,
      HtmlBody: message.html,
    })
  })
})

describe.each([
  ['Resend', resendMailer, 'from'],
  ['Postmark', postmarkMailer, 'From'],
] as const)('either API, as %s', (_name, mailer, sender) => {
  it('is given the sender of the settings, each part by itself', async () => {
    const { endpoint, calls } = await startProvider()
    const { send } = mailer({ endpoint, token: 'x', from, ...testEgress })
    await send({ ...message, from: { name: 'Höst', address: null } })
    await send({ ...message, from: { name: null, address: 'other@example.test' } })
    expect(calls.map(({ body }) => body[sender])).toEqual([
      '=?UTF-8?B?SMO2c3Q=?= <panel@example.test>',
      '"Roost" <other@example.test>',
    ])
  })

  it.each([400, 401, 422, 429, 500, 302])(
    'fails when it answers %i, and says nothing secret',
    async (status) => {
      const { endpoint, calls } = await startProvider(status)
      const sent = mailer({ endpoint, token: 'secret', from, ...testEgress }).send(message)
      await expect(sent).rejects.toThrow(new Error(`The mail provider answered ${status}.`))
      expect(calls).toHaveLength(1)
    },
  )

  it('is not called with what is no address, or several', async () => {
    const { endpoint, calls } = await startProvider()
    const { send } = mailer({ endpoint, token: 'x', from, ...testEgress })
    for (const bad of badAddresses) {
      await expect(send({ ...message, to: bad })).rejects.toThrow('is invalid')
      await expect(send({ ...message, from: { name: null, address: bad } })).rejects.toThrow('is invalid')
    }
    expect(calls).toEqual([])
  })

  it('fails when nothing listens', async () => {
    const { send } = mailer({ endpoint: 'http://127.0.0.1:1/', token: 'x', from, ...testEgress })
    await expect(send(message)).rejects.toThrow()
  })
})

describe('a mailbox in a header', () => {
  it.each([
    ['', 'a@b.test'],
    ['Roost', '"Roost" <a@b.test>'],
    ["Roost & Co's", `"Roost & Co's" <a@b.test>`],
    ['Roost, Inc. <x@y.test>', '=?UTF-8?B?Um9vc3QsIEluYy4gPHhAeS50ZXN0Pg==?= <a@b.test>'],
    ['=?UTF-8?Q?x?=', '=?UTF-8?B?PT9VVEYtOD9RP3g/PQ==?= <a@b.test>'],
  ])('is written so that nothing of the name %j is read', (name, written) => {
    expect(formatMailbox({ name, address: 'a@b.test' })).toBe(written)
  })

  it('is one line of plain ASCII, with encoded words that are not too long and hold whole characters', () => {
    for (const name of [hostileName, '😀'.repeat(40), `${'é'.repeat(99)}"`]) {
      const written = formatMailbox({ name, address: 'a@b.test' })
      expect(written).toMatch(/^[\x20-\x7e]+ <a@b\.test>$/)
      const words = written.split(' ').slice(0, -1)
      for (const word of words) expect(word).toMatch(/^=\?UTF-8\?B\?[\w+/=]{1,63}\?=$/)
      const decoded = words.map((word) => Buffer.from(word.slice(10, -2), 'base64').toString())
      expect(decoded.every((part) => !part.includes('\ufffd'))).toBe(true)
      expect(decoded.join('')).toBe(name.replaceAll(/\p{Cc}+/gu, ' '))
    }
  })

  it('takes one plain address alone', () => {
    expect(requireEmailAddress("New.Person+o'games@example.test")).toBe("New.Person+o'games@example.test")
    for (const bad of badAddresses) expect(() => requireEmailAddress(bad), bad).toThrow('is invalid')
  })
})

type Delivery = { from: string; to: string[]; raw: string; user: unknown; isEncrypted: boolean }

/** Starts a mail server; with `login` it requires a name and password, once the connection is encrypted. */
async function startSmtp(options: { login?: boolean; refuse?: boolean } = {}) {
  const deliveries: Delivery[] = []
  const server = new SMTPServer({
    authOptional: !options.login,
    disabledCommands: options.login ? [] : ['STARTTLS', 'AUTH'],
    onAuth: ({ username, password }, _session, done) =>
      password === 'p@ss' ? done(null, { user: username }) : done(new Error('Wrong')),
    onRcptTo: (_address, _session, done) => done(options.refuse ? new Error('No such mailbox') : null),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        deliveries.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString(),
          user: session.user,
          isEncrypted: session.secure,
        })
        done()
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { port: (server.server.address() as AddressInfo).port, deliveries }
}

/** The values of the headers with this name. */
const headersOf = (raw: string, name: string) =>
  (raw.split('\r\n\r\n')[0] ?? '')
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .filter((line) => line.toLowerCase().startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1).trim())

describe('mail through a server', () => {
  it('arrives with both parts', async () => {
    const { port, deliveries } = await startSmtp()
    await smtpMailer({ url: `smtp://127.0.0.1:${port}`, from, ...testEgress }).send(message)
    const [delivery] = deliveries
    expect(delivery).toMatchObject({ from: from.address, to: [message.to] })
    const raw = delivery?.raw ?? ''
    expect(headersOf(raw, 'from')).toEqual(['Roost <panel@example.test>'])
    expect(headersOf(raw, 'to')).toEqual(['mara@example.test'])
    expect(headersOf(raw, 'subject')[0]).toMatch(/^=\?UTF-8\?/)
    expect(headersOf(raw, 'content-type')[0]).toMatch(/^multipart\/alternative/)
    expect(raw).toMatch(/Content-Type: text\/plain; charset=utf-8/)
    expect(raw).toMatch(/Content-Type: text\/html; charset=utf-8/)
  })

  it('has no headers that names or subjects brought along', async () => {
    const { port, deliveries } = await startSmtp()
    const { send } = smtpMailer({ url: `smtp://127.0.0.1:${port}`, from, ...testEgress })
    await send({
      ...message,
      subject: 'x\r\nBcc: all@example.test\r\n\r\nbody',
      from: { name: hostileName, address: null },
    })
    const [delivery] = deliveries
    expect(delivery?.to).toEqual([message.to])
    expect(headersOf(delivery?.raw ?? '', 'bcc')).toEqual([])
    expect(headersOf(delivery?.raw ?? '', 'from')[0]).toMatch(/<panel@example\.test>$/)
    for (const to of badAddresses) await expect(send({ ...message, to })).rejects.toThrow('is invalid')
    expect(deliveries).toHaveLength(1)
  })

  it('shows name and password, encrypted', async () => {
    const { port, deliveries } = await startSmtp({ login: true })
    const query = 'tls.rejectUnauthorized=false'
    await smtpMailer({ url: `smtp://mara:p%40ss@127.0.0.1:${port}?${query}`, from, ...testEgress }).send(
      message,
    )
    expect(deliveries).toMatchObject([{ user: 'mara', isEncrypted: true }])
    const wrong = smtpMailer({ url: `smtp://mara:wrong@127.0.0.1:${port}?${query}`, from, ...testEgress })
    await expect(wrong.send(message)).rejects.toThrow()
  })

  it('trusts no self-signed certificate', async () => {
    const { port, deliveries } = await startSmtp({ login: true })
    await expect(
      smtpMailer({ url: `smtp://mara:p%40ss@127.0.0.1:${port}`, from, ...testEgress }).send(message),
    ).rejects.toThrow()
    expect(deliveries).toEqual([])
  })

  it('fails when the server refuses or is away', async () => {
    const { port } = await startSmtp({ refuse: true })
    await expect(
      smtpMailer({ url: `smtp://127.0.0.1:${port}`, from, ...testEgress }).send(message),
    ).rejects.toThrow()
    await expect(
      smtpMailer({ url: 'smtp://127.0.0.1:1', from, ...testEgress }).send(message),
    ).rejects.toThrow()
  })
})
