import { describe, expect, it } from 'vitest'
import { countAllocations } from '../../src/web/admin/nodes/allocation-count.ts'

describe('the count of new allocations', () => {
  it.each([
    ['203.0.113.7', '25565', [1, 1, 1]],
    ['203.0.113.7', '25565-25574, 27015', [1, 11, 11]],
    ['203.0.113.7', '25574-25565 25570', [1, 10, 10]],
    ['203.0.113.0/28', '25565-25569', [16, 5, 80]],
    ['203.0.113.9/32', '25565', [1, 1, 1]],
    ['2001:db8::7', '25565', [1, 1, 1]],
    ['203.0.113.0/25', '20000-20999', [128, 1000, 128_000]],
  ])('of %s and %s names addresses, ports and their product', (ip, ports, [addresses, each, total]) => {
    expect(countAllocations(ip, ports)).toEqual({ addresses, ports: each, total })
  })

  it.each([
    ['', '25565'],
    ['203.0.113.7', ''],
    ['node.example.com', '25565'],
    ['203.0.113.300', '25565'],
    ['203.0.113.0/24', '25565'],
    ['2001:db8::/30', '25565'],
    ['203.0.113.7', '80'],
    ['203.0.113.7', '65536'],
    ['203.0.113.7', '2000-3000'],
    ['203.0.113.7', '25565-'],
  ])('of %j and %j is unknown', (ip, ports) => {
    expect(countAllocations(ip, ports)).toBeNull()
  })
})
