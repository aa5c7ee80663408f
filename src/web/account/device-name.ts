/** Browsers by their token in the user agent. Those that also name other browsers come first. */
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

const matchName = (kinds: [string, RegExp][], text: string) =>
  kinds.find(([, pattern]) => pattern.test(text))?.[0]

/** Returns a name such as `Firefox · Linux`, else the user agent itself; null when it is empty. */
export function deviceName(userAgent: string): string | null {
  const parts = [matchName(browsers, userAgent), matchName(systems, userAgent)].filter(Boolean)
  return parts.length > 0 ? parts.join(' · ') : userAgent || null
}
