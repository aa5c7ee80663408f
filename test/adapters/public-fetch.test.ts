import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publicFetch } from '../../src/adapters/public-fetch.ts'
import { nodeSendGet } from '../../src/platform/node-send-get.ts'

const certificate = (name: string) =>
  readFile(new URL(`../support/certificates/${name}`, import.meta.url), 'utf8')
const systemCertificates = getCACertificates('default')

let origin: string
let answer: (request: IncomingMessage, response: ServerResponse) => void
let server: ReturnType<typeof createServer>

beforeAll(async () => {
  const [cert, key] = await Promise.all([certificate('localhost.crt'), certificate('localhost.key')])
  setDefaultCACertificates([...systemCertificates, cert])
  server = createServer({ cert, key }, (request, response) => answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `https://localhost:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  setDefaultCACertificates(systemCertificates)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const loopback = ['127.0.0.0/8', '::1']
const fetchText = (address: string, allowedNetworks: string[] = loopback, timeoutMs = 10_000) =>
  publicFetch(nodeSendGet, { allowedNetworks, timeoutMs })(new URL(address))
const refusal = async (...call: Parameters<typeof fetchText>) => {
  const fetched = await fetchText(...call)
  return 'refusal' in fetched ? `${fetched.refusal.why.reason}: ${fetched.refusal.message}` : 'none'
}

const notPublic = /^address_not_public: .* is not on the public internet/

describe('fetching from an address that an administrator entered', () => {
  it('gives the text, and where it was after redirects', async () => {
    answer = (request, response) => {
      if (request.url === '/text') return response.end('text')
      response.writeHead(302, { location: '/text' }).end()
    }
    expect(await fetchText(`${origin}/old`)).toEqual({ text: 'text', url: `${origin}/text` })
  })

  it('connects to no address that its network does not allow, whatever the name says', async () => {
    let isAsked = false
    answer = (_request, response) => {
      isAsked = true
      response.end('secret')
    }
    expect(await refusal(`${origin}/text`, ['192.0.2.0/24'])).toMatch(notPublic)
    expect(await refusal(`${origin}/text`, [])).toMatch(notPublic)
    expect(isAsked).toBe(false)
  })

  it.each([
    'https://127.0.0.1/egg',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/egg',
    'https://[::ffff:10.0.0.1]/egg',
    'https://[fd00:ec2::254]/egg',
    'https://10.1.2.3/egg',
    'https://2130706433/egg',
    'https://metadata.google.internal/egg',
  ])('refuses %s before anything is sent', async (address) => {
    expect(await refusal(address, [])).toMatch(notPublic)
  })

  it('checks where a redirect leads', async () => {
    const redirectTo = (location: string) => {
      answer = (_request, response) => void response.writeHead(301, { location }).end()
    }
    redirectTo('http://localhost/egg')
    expect(await refusal(origin)).toBe('address_not_https: The address must begin with https://.')
    redirectTo('https://169.254.169.254/latest/meta-data')
    expect(await refusal(origin)).toContain(
      'address_not_public: 169.254.169.254 is not on the public internet',
    )
    redirectTo('/again')
    expect(await refusal(origin)).toBe('address_redirects_too_often: The address redirects too often.')
    redirectTo('https://[')
    expect(await refusal(origin)).toBe('address_redirect_invalid: The address redirects to an invalid one.')
  })

  it('takes https without credentials only', async () => {
    expect(await refusal('http://eggs.example.com/egg')).toContain('address_not_https: ')
    expect(await refusal('https://user:pass@eggs.example.com/egg')).toBe(
      'address_with_credentials: The address must not contain a user name or password.',
    )
  })

  it('bounds the size and the time, and says what was answered', async () => {
    answer = (_request, response) => void response.end('x'.repeat(1024 * 1024 + 1))
    expect(await refusal(origin)).toBe('address_text_too_large: The address sent more than 1 MiB.')
    answer = (_request, response) => void response.writeHead(404).end()
    expect(await refusal(origin)).toBe('address_status: The address answered with status 404.')
    answer = (_request, response) => void response.write('x')
    expect(await refusal(origin, loopback, 300)).toBe('address_slow: The address did not answer in time.')
  })

  it('says that nothing answers, or that the answer ends too early', async () => {
    expect(await refusal('https://localhost:1/egg')).toBe(
      'address_unreachable_by: The address cannot be reached (ECONNREFUSED).',
    )
    answer = (_request, response) => void response.write('x', () => response.destroy())
    expect(await refusal(origin)).toBe('address_unreachable: The address cannot be reached.')
  })
})
