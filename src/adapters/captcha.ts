import type { Egress } from './egress.ts'
import { fetchJson, asRecord } from './fetch-json.ts'

export type CaptchaProvider = 'turnstile' | 'hcaptcha' | 'recaptcha'

/** Verifies captchas. */
export type CaptchaVerifier = {
  /**
   * Whether `response` is a solved captcha that was not used before. Throws when the provider cannot be reached, gives
   * an unusable answer, or rejects the secret.
   */
  isSolved: (
    provider: CaptchaProvider,
    attempt: { secret: string; siteKey: string; response: string; ip: string },
  ) => Promise<boolean>
}

const siteVerifyUrls: Record<CaptchaProvider, string> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
  recaptcha: 'https://www.google.com/recaptcha/api/siteverify',
}

/** Creates a verifier for the three providers, which share one protocol; `urls` replaces their endpoints. */
export function httpCaptcha(
  send: Egress['fetch'],
  {
    urls = siteVerifyUrls,
    timeoutMs = 5_000,
  }: { urls?: Record<CaptchaProvider, string>; timeoutMs?: number } = {},
): CaptchaVerifier {
  return {
    isSolved: async (provider, { secret, siteKey, response, ip }) => {
      const form = new URLSearchParams({ secret, response, remoteip: ip })
      if (provider === 'hcaptcha') form.set('sitekey', siteKey)
      const verification = await fetchJson(send, provider, urls[provider], {
        method: 'POST',
        body: form,
        signal: AbortSignal.timeout(timeoutMs),
      })
      return readVerdict(provider, asRecord(verification))
    },
  }
}

function readVerdict(provider: CaptchaProvider, { success, 'error-codes': codes }: Record<string, unknown>) {
  if (typeof success !== 'boolean') throw new Error(`${provider} returned an invalid answer.`)
  const isSecretWrong =
    Array.isArray(codes) && codes.some((code) => /-secret$|sitekey-secret/.test(String(code)))
  if (isSecretWrong) throw new Error(`${provider} rejected the secret.`)
  return success
}
