/** An accent colour as one theme uses it: `brand` for controls and text, `ink` on it, `soft` as a background of its text. */
export type AccentColours = { brand: string; ink: string; soft: string }
export type Accent = { light: AccentColours; dark: AccentColours }

/** The least contrast between a text and its background, of WCAG 2.2 at level AA. */
export const minContrast = 4.5

type Rgb = readonly [red: number, green: number, blue: number]
/** Hue in turns, saturation and lightness from 0 to 1. */
type Hsl = readonly [hue: number, saturation: number, lightness: number]

/** The backgrounds of each theme on which the accent stands as text, and how soft it gets. Same as `src/web/app.css`. */
const themes = {
  light: { backgrounds: ['#ffffff', '#f5f6f5', '#eef0ee'], softLightness: 0.93, step: -0.01 },
  dark: { backgrounds: ['#0e1311', '#161c19', '#1f2723'], softLightness: 0.14, step: 0.01 },
}

/** Derives the colours of both themes from an accent, `#rrggbb`, so that every text with them has the least contrast. */
export function deriveAccent(accent: string): Accent {
  const hsl = toHsl(parseHex(accent))
  return { light: deriveTheme(hsl, 'light'), dark: deriveTheme(hsl, 'dark') }
}

/** Moves the lightness away from the backgrounds of the theme until the accent is readable on all of them. */
function deriveTheme([hue, saturation, lightness]: Hsl, theme: keyof typeof themes): AccentColours {
  const { backgrounds, softLightness, step } = themes[theme]
  const soft = toHex([hue, Math.min(saturation, 0.6), softLightness])
  let brand = toHex([hue, saturation, lightness])
  let next = lightness
  while (![...backgrounds, soft].every((background) => contrast(brand, background) >= minContrast)) {
    next += step
    brand = toHex([hue, saturation, Math.min(1, Math.max(0, next))])
  }
  return {
    brand,
    ink: contrast('#ffffff', brand) >= contrast('#000000', brand) ? '#ffffff' : '#000000',
    soft,
  }
}

/** Returns the contrast of two colours as WCAG defines it, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = parseHex(hex).map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const parseHex = (hex: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as unknown as Rgb

function toHsl([red, green, blue]: Rgb): Hsl {
  const [max, min] = [Math.max(red, green, blue), Math.min(red, green, blue)]
  const [range, lightness] = [max - min, (max + min) / 2]
  if (range === 0) return [0, 0, lightness]
  const saturation = range / (1 - Math.abs(2 * lightness - 1))
  const sector =
    max === red
      ? (green - blue) / range
      : max === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4
  return [(sector / 6 + 1) % 1, saturation, lightness]
}

function toHex([hue, saturation, lightness]: Hsl): string {
  const spread = saturation * Math.min(lightness, 1 - lightness)
  const part = (offset: number) => {
    const position = (offset + hue * 12) % 12
    return lightness - spread * Math.max(-1, Math.min(position - 3, 9 - position, 1))
  }
  return `#${[0, 8, 4]
    .map((offset) =>
      Math.round(part(offset) * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}

/** Writes the colours as a style sheet over that of the application. */
export function accentStyle(accent: string): string {
  const { light, dark } = deriveAccent(accent)
  const rule = (selector: string, { brand, ink, soft }: AccentColours) =>
    `${selector}{--brand:${brand};--brand-text:${brand};--brand-ink:${ink};--brand-soft:${soft}}`
  return rule(':root', light) + rule(":root[data-theme='dark']", dark)
}
