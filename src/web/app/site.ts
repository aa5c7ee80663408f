import type { presentAnnouncement } from '../../surfaces/browser/resources/announcement.ts'
import type { presentUser } from '../../surfaces/browser/resources/sign-in.ts'

/** The signed-in user, as the page was rendered with. */
export type SignedInUser = ReturnType<typeof presentUser>

type Captcha = { provider: 'none' | 'turnstile' | 'hcaptcha' | 'recaptcha'; siteKey: string }

/** Levels of an administrator, by resource of the Application API: 0 none, 1 read, 3 read and write. */
export type AccessLevels = Readonly<Record<string, number>>

/** The administrator who acts for the user in this session, and when that ends. */
export type Acting = { administrator: string; until: string }

/** Paths of the logo of the panel, on light and on dark backgrounds. */
export type Logos = { light: string; dark: string }
export type FooterLink = { label: string; url: string }

declare global {
  interface Window {
    PterodactylUser?: SignedInUser
    SiteConfiguration?: {
      name: string
      locale: string
      blur: boolean
      picture: string | null
      captcha: Captcha
      acl?: AccessLevels
      setup?: { isDue: boolean }
      acting?: Acting
      logo?: Logos
      links?: FooterLink[]
      announcements?: ReturnType<typeof presentAnnouncement>[]
      mail?: 'stored' | 'none'
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
  /** Null for users who are not administrators. */
  acl: window.SiteConfiguration?.acl ?? null,
  /** Whether the panel has no user yet. */
  isSetupDue: window.SiteConfiguration?.setup?.isDue ?? false,
  /** Null in a session of the user's own. */
  acting: window.SiteConfiguration?.acting ?? null,
  /** Null for the panel's own logo. */
  logo: window.SiteConfiguration?.logo ?? null,
  /** Links at the foot of every page. */
  links: window.SiteConfiguration?.links ?? [],
  /** The announcements for the user. */
  announcements: window.SiteConfiguration?.announcements ?? [],
  /** For guests: whether mails leave the panel, are stored for its administrators, or are not written at all. */
  mail: window.SiteConfiguration?.mail ?? 'sent',
  nonce: document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '',
}
