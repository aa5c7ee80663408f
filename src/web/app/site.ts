import type { presentUser } from '../../surfaces/browser/resources/sign-in.ts'

/** Whoever is signed in, as the page was given him. */
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

/** What the page started with: the panel's name, the language, who is signed in, and which captcha guards forms. */
export const site = {
  name: window.SiteConfiguration?.name ?? 'Roost',
  locale: window.SiteConfiguration?.locale ?? 'en',
  captcha: window.SiteConfiguration?.captcha ?? ({ provider: 'none', siteKey: '' } satisfies Captcha),
  user: window.PterodactylUser ?? null,
  /** Path of the reader's own picture. */
  picture: window.SiteConfiguration?.picture ?? null,
  /** Whether the reader wants private data blurred. */
  blur: window.SiteConfiguration?.blur ?? false,
  nonce: document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '',
}
