import { createHash, randomBytes } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { describe, expect, it } from 'vitest'
import { refusalOf, storeCredentials, useLocalObjects } from '../support/local-objects.ts'

const at = useLocalObjects()

describe('a signature', () => {
  const put = (link: string, body = 'x') => fetch(link, { method: 'PUT', body })
  const partLink = async (seconds = 60) =>
    at.store().multipart.signPart('a', await at.store().multipart.create('a', 'text/plain'), 1, seconds)

  it('is needed', async () => {
    await at.store().put('a', Buffer.from('secret'), 'text/plain')
    for (const method of ['GET', 'PUT', 'DELETE', 'POST']) {
      expect(await refusalOf(await fetch(at.address('/a'), { method }))).toEqual([403, 'AccessDenied'])
    }
    expect((await fetch(at.address('/a'), { method: 'HEAD' })).status).toBe(403)
    expect(await refusalOf(await fetch(at.address('?uploads')))).toEqual([403, 'AccessDenied'])
    expect(await at.store().multipart.head('a')).toEqual({ size: 6 })
  })

  it('of a link is good for its method, key, query and time alone', async () => {
    await at.store().put('a', Buffer.from('secret'), 'text/plain')
    const link = await at.store().signedUrl('a', 60)
    expect((await fetch(link)).status).toBe(200)
    const changed: [string, RequestInit?][] = [
      [link.replace('/a?', '/b?')],
      [link.replace('Expires=60', 'Expires=600')],
      [link.replace(/Signature=\w{4}/, 'Signature=0000')],
      [`${link}&response-content-type=text%2Fhtml`],
      [link, { method: 'PUT', body: 'x' }],
      [link, { method: 'DELETE' }],
    ]
    for (const [url, init] of changed) {
      expect(await refusalOf(await fetch(url, init))).toEqual([403, 'SignatureDoesNotMatch'])
    }
    expect(await refusalOf(await fetch(link.replace('key-of', 'other')))).toEqual([403, 'InvalidAccessKeyId'])
    expect(await refusalOf(await fetch(link.replace('%2Flocal%2F', '%2Felse%2F')))).toEqual([
      403,
      'AccessDenied',
    ])
    expect(await refusalOf(await fetch(link.replace('SHA256', 'SHA1')))).toEqual([403, 'AccessDenied'])
    expect(await at.store().get('b')).toBeNull()
  })

  it('of a link ends with it, and begins no earlier', async () => {
    const link = await partLink(60)
    at.clock.now = Date.now() + 59_000
    expect((await put(link)).status).toBe(200)
    at.clock.now = Date.now() + 62_000
    expect(await refusalOf(await put(link))).toEqual([403, 'AccessDenied'])
    at.clock.now = Date.now() - 16 * 60_000
    expect(await refusalOf(await put(link))).toEqual([403, 'AccessDenied'])
  })

  it('of a link is still good after a restart', async () => {
    await at.store().put('a', Buffer.from('kept'), 'text/plain')
    const links = [await at.store().signedUrl('a', 60), await partLink()] as const
    await at.restart()
    expect(await (await fetch(links[0])).text()).toBe('kept')
    expect((await put(links[1])).status).toBe(200)
  })

  it('in a header is good for a quarter of an hour, and for the body it was made for', async () => {
    const signed = async (text: string) => {
      const { method, url, headers } = await new AwsV4Signer({
        ...storeCredentials,
        service: 's3',
        method: 'PUT',
        url: at.address('/a'),
        headers: { 'X-Amz-Content-Sha256': createHash('sha256').update(text).digest('hex') },
      }).sign()
      return (body: string) => fetch(url, { method, headers, body })
    }
    const send = await signed('the body')
    expect(await refusalOf(await send('another'))).toEqual([400, 'XAmzContentSHA256Mismatch'])
    expect(await at.store().get('a')).toBeNull()
    expect((await send('the body')).status).toBe(200)
    at.clock.now = Date.now() + 16 * 60_000
    expect(await refusalOf(await send('the body'))).toEqual([403, 'RequestTimeTooSkewed'])
    expect(await at.filesBelow('incoming')).toBe(0)
  })

  it('is refused to somebody who sends a large body at once, who hears so', async () => {
    const link = (await partLink()).replace(/Signature=\w{4}/, 'Signature=0000')
    const answer = await fetch(link, { method: 'PUT', body: randomBytes(20_000_000) })
    expect(answer.status).toBe(403)
  })
})
