import type { presentUser } from '../../surfaces/browser/resources/sign-in.ts'

/** The signed-in user, as the page was rendered with. */
export type SignedInUser = ReturnType<typeof presentUser>

type Captcha = { provider: 'none' | 'turnstile' | 'hcaptcha' | 'recaptcha'; siteKey: string }

declare global {
  interface Window {
    PterodactylUser?: SignedInUser
    SiteConfiguration?: {
      name: string
      locale: string
      blur: boolean
      picture: string | null
      captcha: Captcha
    }
  }
}

/** What the server rendered into the page: the name of the panel, the language, the user and the captcha. */
export const site = {
  name: window.SiteConfiguration?.name ?? 'Roost',
  locale: window.SiteConfiguration?.locale ?? 'en',
  captcha: window.SiteConfiguration?.captcha ?? ({ provider: 'none', siteKey: '' } satisfies Captcha),
  user: window.PterodactylUser ?? null,
  /** Path of the avatar of the user, if they have uploaded one. */
  picture: window.SiteConfiguration?.picture ?? null,
  /** Whether the user has privacy mode on. */
  blur: window.SiteConfiguration?.blur ?? false,
  nonce: document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '',
}
