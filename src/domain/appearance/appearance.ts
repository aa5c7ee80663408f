import type { Settings } from '../settings/definitions.ts'

/** How the panel looks, as pages are rendered with it. */
export type Appearance = {
  /** `#rrggbb`, or null for the panel's own colour. */
  accent: string | null
  /** Paths of the logo on light and on dark backgrounds; null for the panel's own. */
  logo: { light: string; dark: string } | null
  links: { label: string; url: string }[]
}

/** The settings of the appearance; one statement reads them beside what else a page needs. */
export const appearanceKeys = [
  'appearance.accent',
  'appearance.logo_light',
  'appearance.logo_dark',
  'appearance.footer_links',
] as const

/** Returns the appearance of these settings; a logo of one theme stands in for that of the other. */
export function appearanceOf(settings: Pick<Settings, (typeof appearanceKeys)[number]>): Appearance {
  const light = settings['appearance.logo_light'] ?? settings['appearance.logo_dark']
  const dark = settings['appearance.logo_dark'] ?? light
  return {
    accent: settings['appearance.accent'],
    logo: light && dark ? { light: logoPath(light), dark: logoPath(dark) } : null,
    links: settings['appearance.footer_links'],
  }
}

/** Returns the path at which a logo is served. */
export const logoPath = (name: string) => `/logos/${name}`
