import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/processes.ts'
import { expectStatus, type Fixtures } from './fixtures.ts'

const claims = {
  'x-forwarded-for': '127.0.0.2, 203.0.113.9',
  forwarded: 'for=127.0.0.2',
  'x-real-ip': '127.0.0.2',
  'true-client-ip': '127.0.0.2',
  'cf-connecting-ip': '127.0.0.2',
}

/** Defines the tests of the callers' addresses, as the platform reports them. */
export function callersOn(at: () => Fixtures): void {
  describe('callers', () => {
    it('are let in from the addresses of their keys alone, and no header moves them', async () => {
      const { asPlayer } = at()
      const json = { description: 'office', allowed_ips: ['127.0.0.2'] }
      const made = expectStatus(await asPlayer('POST', '/account/api-keys', { json }), 200)
      const bearer = `${made.attributes.identifier}${made.meta.secret_token}`
      const path = '/account'
      expectStatus(await asPlayer('GET', path, { bearer, from: '127.0.0.2' }), 200)
      expectStatus(await asPlayer('GET', path, { bearer, from: '127.0.0.3', headers: claims }), 403)
      expectStatus(await asPlayer('DELETE', `/account/api-keys/${made.attributes.identifier}`), 204)
      expectStatus(await asPlayer('GET', path, { bearer, from: '127.0.0.2' }), 401)
    })

    it('are recorded under the address they have', async () => {
      const { asOwner } = at()
      const json = { root: '/', name: 'from elsewhere' }
      const call = { json, from: '127.0.0.7', headers: claims }
      expectStatus(await asOwner('POST', '/files/create-folder', call), 204)
      const entry = await eventually(async () => {
        const path = '/activity?filter[event]=create-directory&sort=-timestamp'
        const { data } = expectStatus(await asOwner('GET', path), 200)
        return data[0]?.attributes.properties.name === 'from elsewhere' && data[0].attributes
      })
      expect(entry.ip).toBe('127.0.0.7')
    })
  })
}
