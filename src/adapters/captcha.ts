import { callJson, membersOf } from './json-call.ts'

/** Who tells people from programs. */
export type CaptchaProvider = 'turnstile' | 'hcaptcha' | 'recaptcha'

/** Asks whether a captcha was solved. */
export type CaptchaVerifier = {
  /**
   * Whether `response` is a solved captcha that nobody has shown before. Throws when the provider cannot be
   * reached, makes no sense, or does not know the secret.
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

/** The three providers, which share one protocol; `urls` puts others in their places. */
export function httpCaptcha({
  urls = siteVerifyUrls,
  timeout = 5_000,
}: { urls?: Record<CaptchaProvider, string>; timeout?: number } = {}): CaptchaVerifier {
  return {
    isSolved: async (provider, { secret, siteKey, response, ip }) => {
      const form = new URLSearchParams({ secret, response, remoteip: ip })
      if (provider === 'hcaptcha') form.set('sitekey', siteKey)
      const answer = await callJson(provider, urls[provider], {
        method: 'POST',
        body: form,
        signal: AbortSignal.timeout(timeout),
      })
      return verdictOf(provider, membersOf(answer))
    },
  }
}

function verdictOf(provider: CaptchaProvider, { success, 'error-codes': codes }: Record<string, unknown>) {
  if (typeof success !== 'boolean') throw new Error(`${provider} gave an answer that cannot be read.`)
  const isSecretWrong =
    Array.isArray(codes) && codes.some((code) => /-secret$|sitekey-secret/.test(String(code)))
  if (isSecretWrong) throw new Error(`${provider} does not know the secret.`)
  return success
}
