import * as z from 'zod'
import { ApiError, unavailable } from '../errors.ts'
import type { Panel } from '../panel.ts'
import { settingsOf } from './settings.ts'

const response = () => z.string().max(8192, 'max').nullish()

/** Where a form says what its captcha gave: the ecosystem's name, and the names of other widgets. */
export const captchaFields = () => ({
  'g-recaptcha-response': response(),
  'cf-turnstile-response': response(),
  'h-captcha-response': response(),
})
type CaptchaFields = z.output<z.ZodObject<ReturnType<typeof captchaFields>>>

/** What the captcha of a form gave, under whichever name; null without. */
export const captchaResponse = (form: Partial<CaptchaFields>): string | null =>
  (form['g-recaptcha-response'] ?? '') ||
  (form['cf-turnstile-response'] ?? '') ||
  (form['h-captcha-response'] ?? '') ||
  null

const unsolved = () =>
  new ApiError(400, [{ code: 'HttpException', detail: 'The captcha was not solved, or no longer counts.' }])

/**
 * Whoever asks has solved the captcha, where one is set. Refuses with 400 who has not, and with 503 everybody
 * while its provider cannot tell: a captcha that opens under load would keep nobody out. Without a captcha one
 * statement and no call. Spec: Browser authentication, captcha.
 */
export async function requireCaptcha(panel: Panel, response: string | null | undefined): Promise<void> {
  const settings = await settingsOf(panel, ['captcha.provider', 'captcha.site_key', 'captcha.secret'])
  const provider = settings['captcha.provider']
  if (provider === 'none') return
  if (!response) throw unsolved()
  const attempt = {
    secret: settings['captcha.secret'] ?? '',
    siteKey: settings['captcha.site_key'] ?? '',
    response,
    ip: panel.ip,
  }
  const isSolved = await panel.captcha.isSolved(provider, attempt).catch((error: unknown) => {
    throw unavailable('The captcha cannot be checked right now.', error)
  })
  if (!isSolved) throw unsolved()
}
