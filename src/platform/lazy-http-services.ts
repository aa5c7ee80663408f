import type { CaptchaVerifier } from '../adapters/captcha.ts'
import type { Egress } from '../adapters/egress.ts'
import type { PasteService } from '../adapters/paste.ts'

/** Returns the service for shared logs, whose code is loaded with its first use. */
export const lazyPasteService = ({ fetch: send }: Egress): PasteService => ({
  upload: async (...input) => {
    const { httpPasteService } = await import('../adapters/paste.ts')
    return httpPasteService(send).upload(...input)
  },
})

/** Returns the verifier of captchas, whose code is loaded with its first use. */
export const lazyCaptcha = ({ fetch: send }: Egress): CaptchaVerifier => ({
  isSolved: async (...input) => {
    const { httpCaptcha } = await import('../adapters/captcha.ts')
    return httpCaptcha(send).isSolved(...input)
  },
})
