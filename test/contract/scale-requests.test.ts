import { expect, it } from 'vitest'
import { scaleRequests } from '../bench/scale-requests.ts'

const seed = {
  servers: 10_000,
  hotServer: '9e3779b1-8e67-9f44-a5cf-f9e44ebacfbd',
  application: 'application',
  client: 'client',
  administrator: 'administrator',
  node: 'node',
  version: '1',
}

it('has values for every filter of every list, which the benchmark with a million servers asks for', () => {
  const paths = scaleRequests(seed).map(({ path }) => path)
  expect(paths).toContain('/api/application/servers?filter[uuidShort]=abc')
  expect(paths).toContain('/api/application/announcements?filter[author_id]=777')
})
