import { expect, it } from 'vitest'
import charsets from '../../src/adapters/stubs/iconv-lite.ts'

it('what stands in bundles for iconv-lite reads what games answer', () => {
  const bytes = Buffer.from([0x80, 0x20, 0xe4, 0x9f])
  expect(charsets.decode(bytes, 'win1252')).toBe('€ äŸ')
  expect(charsets.decode(Buffer.from('Grüße, 東京'), 'utf8')).toBe('Grüße, 東京')
})
