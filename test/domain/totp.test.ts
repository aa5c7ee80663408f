import { describe, expect, it } from 'vitest'
import { generateTotpSecret, findTotpStep, totpUri } from '../../src/domain/auth/totp.ts'

/** The secret of RFC 6238, appendix B, `12345678901234567890`, in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const at = (seconds: number) => new Date(seconds * 1000)

/** Appendix B: seconds, and the last six digits of the code. */
const vectors: [number, string][] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
]

describe('codes of an authenticator', () => {
  it.each(vectors)('are those of RFC 6238 at %i', async (seconds, code) => {
    expect(await findTotpStep(secret, code, at(seconds))).toBe(Math.floor(seconds / 30))
  })

  it('AU-3: are taken one step early and one step late, and name their own step', async () => {
    const [seconds, code] = [1_234_567_890, '005924']
    const step = seconds / 30
    for (const late of [-30, 0, 29, 30, 59]) {
      expect(await findTotpStep(secret, code, at(seconds + late)), String(late)).toBe(step)
    }
    for (const late of [-31, -60, 60, 90, 3600]) {
      expect(await findTotpStep(secret, code, at(seconds + late)), String(late)).toBeNull()
    }
  })

  it('are six digits, none missing and none more', async () => {
    for (const wrong of ['', '5924', '05924', ' 005924', '0005924', '005925', '94287082', '00592\u0664']) {
      expect(await findTotpStep(secret, wrong, at(1_234_567_890)), wrong).toBeNull()
    }
  })

  it('fit no other secret', async () => {
    expect(await findTotpStep(generateTotpSecret(), '005924', at(1_234_567_890))).toBeNull()
  })
})

describe('secrets of an authenticator', () => {
  it('are 160 random bits in base32', () => {
    const secrets = Array.from({ length: 50 }, generateTotpSecret)
    for (const each of secrets) expect(each).toMatch(/^[A-Z2-7]{32}$/)
    expect(new Set(secrets).size).toBe(50)
  })

  it('are told as a URI with issuer and account', () => {
    expect(totpUri(secret, 'mara+1@example.org', 'My: Panel')).toBe(
      `otpauth://totp/My%3APanel:mara%2B1%40example.org?secret=${secret}&issuer=My%3APanel`,
    )
  })
})
