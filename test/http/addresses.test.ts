import { describe, expect, it } from 'vitest'
import { canonicalAddress, isAddressRange, isAllowedAddress } from '../../src/ip-addresses.ts'

describe('an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]', 'fe80::1'],
    ['::1', '::1'],
  ])('NW-2: has one form: %s', (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical)
  })

  it.each([
    '',
    'localhost',
    '192.0.2',
    '192.0.2.256',
    '192.0.2.1.5',
    '0xc0000201',
    '0xc0.0.2.1',
    '0300.0.2.1',
    '192.0.2.01',
    '3221225985',
    '192.0.2.1:80',
    '192.0.2.1, 10.0.0.1',
    '2001:db8::1::2',
    '2001:db8:::1',
    '12345::',
    '::g',
    '192.0.2.1/24',
  ])('NW-2: is none: %j', (text) => {
    expect(canonicalAddress(text)).toBeNull()
  })
})

describe('a list of ranges', () => {
  it('allows every address when it is empty', () => {
    expect(isAllowedAddress('192.0.2.1', [])).toBe(true)
    expect(isAllowedAddress('nonsense', [])).toBe(true)
  })

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1', '192.0.2.0/24'],
    ['192.0.2.1', '192.0.2.77/24'],
    ['192.0.2.1', '0.0.0.0/0'],
    ['192.0.2.1', '::ffff:192.0.2.0/120'],
    ['::ffff:192.0.2.1', '192.0.2.0/24'],
    ['2001:db8::1', '2001:db8::/32'],
    ['2001:db8::1', '2001:0db8:0:0:0:0:0:1'],
    ['fe80::1%eth0', 'fe80::/10'],
  ])('lets %s in with %s', (address, range) => {
    expect(isAllowedAddress(address, ['203.0.113.9', range])).toBe(true)
  })

  it.each([
    ['192.0.2.1', '192.0.2.2'],
    ['192.0.3.1', '192.0.2.0/24'],
    ['192.0.2.1', '::/0'],
    ['2001:db8::1', '0.0.0.0/0'],
    ['192.0.2.1', '192.0.2.0/33'],
    ['192.0.2.1', '192.0.2.0/'],
    ['192.0.2.1', '192.0.2.0/24/24'],
    ['192.0.2.1', '0300.0.2.1'],
    ['192.0.2.1', '::ffff:192.0.2.0/24'],
    ['192.0.2.1', 'nonsense'],
    ['nonsense', '0.0.0.0/0'],
    ['0xc0000201', '192.0.2.1'],
  ])('NW-2: keeps %s out with %s', (address, range) => {
    expect(isAllowedAddress(address, [range])).toBe(false)
  })

  it('is made of ranges that can be matched', () => {
    const fine = ['192.0.2.1', '192.0.2.0/24', '0.0.0.0/0', '::/0', '2001:db8::/128', '::ffff:192.0.2.0/96']
    expect(fine.filter((text) => !isAddressRange(text))).toEqual([])
    const wrong = [
      '',
      '*',
      '192.0.2.*',
      '192.0.2.1-9',
      '192.0.2.0/33',
      '::/129',
      '::ffff:192.0.2.0/24',
      '0x7f.1',
      '1/8',
      '192.0.2.0/-1',
      '192.0.2.0/1e1',
    ]
    expect(wrong.filter(isAddressRange)).toEqual([])
  })
})
