import * as z from 'zod'
import { ApiError, unavailable } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { getSettings } from '../settings/settings.ts'

const responseField = () => z.string().max(8192, 'max').nullish()

/**
 * Fields of a form that carry the solution of a captcha: the name that Pterodactyl uses, and those of other
 * widgets.
 */
export const captchaFields = () => ({
  'g-recaptcha-response': responseField(),
  'cf-turnstile-response': responseField(),
  'h-captcha-response': responseField(),
})
type CaptchaFields = z.output<z.ZodObject<ReturnType<typeof captchaFields>>>

/** Returns the captcha solution of a form under any of its field names, or null without one. */
export const readCaptchaResponse = (form: Partial<CaptchaFields>): string | null =>
  (form['g-recaptcha-response'] ?? '') ||
  (form['cf-turnstile-response'] ?? '') ||
  (form['h-captcha-response'] ?? '') ||
  null

const captchaFailed = () =>
  new ApiError(400, [
    {
      code: 'HttpException',
      detail: 'The captcha was not solved, or it has expired. Solve it again.',
      meta: { reason: 'captcha_unsolved' },
    },
  ])

/**
 * Verifies the captcha solution when a captcha is configured. Refuses with 400 a missing or wrong one, and
 * with 503 while the provider does not answer, since an unverified captcha would stop no bot. Without a
 * captcha it costs one statement and no call. Spec: docs/accounts.md#captcha.
 */
export async function requireCaptcha(panel: Panel, response: string | null | undefined): Promise<void> {
  const settings = await getSettings(panel, ['captcha.provider', 'captcha.site_key', 'captcha.secret'])
  const provider = settings['captcha.provider']
  if (provider === 'none') return
  if (!response) throw captchaFailed()
  const attempt = {
    secret: settings['captcha.secret'] ?? '',
    siteKey: settings['captcha.site_key'] ?? '',
    response,
    ip: panel.ip,
  }
  const isSolved = await panel.captcha.isSolved(provider, attempt).catch((error: unknown) => {
    throw unavailable('captcha_unavailable', 'The captcha cannot be verified right now. Try again shortly.', {
      cause: error,
    })
  })
  if (!isSolved) throw captchaFailed()
}
