/** Browsers by what they call themselves; those that name others too come first. */
const browsers: [name: string, sign: RegExp][] = [
  ['Edge', /\bEdg(A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Headless)?Chrome\/|\bCriOS\//],
  ['Safari', /\bSafari\//],
]

const systems: [name: string, sign: RegExp][] = [
  ['Windows', /\bWindows\b/],
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
]

const named = (kinds: [string, RegExp][], text: string) => kinds.find(([, sign]) => sign.test(text))?.[0]

/** `Firefox · Linux`; what a program calls itself where it is no browser of these; null where it says nothing. */
export function deviceName(userAgent: string): string | null {
  const parts = [named(browsers, userAgent), named(systems, userAgent)].filter(Boolean)
  return parts.length > 0 ? parts.join(' · ') : userAgent || null
}
