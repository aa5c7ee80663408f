import { canonicalAddress } from './ip-addresses.ts'

/**
 * Removes from a log what identifies people or grants access: IP addresses (loopback and `0.0.0.0` stay),
 * e-mail addresses, passwords, tokens, keys and long secrets, and terminal colours, which could hide them. Best
 * effort, by what secrets usually look like. Runs in time linear to the length of any text.
 */
export const redact = (log: string): string => steps.reduce((text, step) => step(text), log)

/**
 * Removes from the answer of an external service what grants access, by its name or its form: tokens, keys, passwords,
 * and the parameters of addresses, which sign them. Names of files and addresses of hosts stay.
 */
export const redactSecrets = (text: string): string =>
  [...secretSteps, replaceWith(/(:\/\/[^\s?"'<>]{0,2048})\?[^\s"'<>]*/g, '$1?[redacted]')].reduce(
    (redacted, step) => step(redacted),
    text,
  )

type Step = (text: string) => string

// Each pattern starts at few places (a look-behind keeps it out of the middle of a run), matches without
// backtracking, or is bounded: otherwise hostile text would make it quadratic.

const replaceWith =
  (pattern: RegExp, replacement: string): Step =>
  (text) =>
    text.replace(pattern, replacement)

const replaceUsing =
  (pattern: RegExp, replacer: (found: string) => string): Step =>
  (text) =>
    text.replace(pattern, (found) => replacer(found))

// oxlint-disable-next-line no-control-regex -- escape sequences begin with a control character
const terminalSequence = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*\u0007?|[@-Z\\^_])/g

const secretNamePattern =
  '(?:pass(?:word|wd|phrase)|\\bpass(?!\\w)|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)'
const separatorPattern = `\\w{0,32}\\\\?["']?[ \\t]{0,8}(?:=>|[:=])[ \\t]{0,8}`
const valuePattern = `(?:\\\\?"[^"\\n]*|\\\\?'[^'\\n]*|[^\\s"',;&]+)`

/** What has the name or the form of a secret. */
const secretSteps: Step[] = [
  replaceWith(terminalSequence, ''),
  redactPrivateKeys,
  replaceWith(/\b((?:proxy-)?authorization|(?:set-)?cookie)["']?[ \t]{0,8}[:=][^\n]*/gi, '$1: [redacted]'),
  replaceWith(/(\/\/)[^\s/:@]{0,64}:[^\s/@]{1,256}@/g, '$1[redacted]@'),
  replaceWith(/\b(bearer|basic)[ \t]{1,8}[\w+/.~-]{8,}={0,2}/gi, '$1 [redacted]'),
  replaceWith(/(\/(?:login|register|changepassword|changepw))[ \t]{1,8}[^\n]+/gi, '$1 [redacted]'),
  replaceWith(new RegExp(`(${secretNamePattern}${separatorPattern})${valuePattern}`, 'gi'), '$1[redacted]'),
  replaceWith(/(?<![\w-])eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g, '[redacted]'),
  replaceWith(/(?<!\w)(?:ptl[ac]|p(?:app|acc))_\w+/g, '[redacted]'),
]

const steps: Step[] = [
  ...secretSteps,
  replaceWith(/(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+/g, '[e-mail]'),
  replaceUsing(/[\w:.]+/g, redactIpv6),
  replaceUsing(/(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)/g, (found) =>
    isLocalAddress(canonicalAddress(found)) ? found : '[address]',
  ),
  replaceUsing(/[A-Za-z\d]+/g, (found) => (isLikelySecret(found) ? '[redacted]' : found)),
]

/** Removes private keys from their first line to the last, or to the end of the text when that is missing. */
function redactPrivateKeys(text: string): string {
  const kept: string[] = []
  let from = 0
  for (const { index } of text.matchAll(/-----BEGIN [A-Z\d ]{0,32}PRIVATE KEY/g)) {
    if (index < from) continue
    kept.push(text.slice(from, index), '[private key]')
    const end = /-----END [A-Z\d ]{0,32}PRIVATE KEY[A-Z ]{0,16}-----|$/g
    end.lastIndex = index
    end.exec(text)
    from = end.lastIndex
  }
  return kept.join('') + text.slice(from)
}

const maxIpv6Length = 80

/** Redacts IPv6 addresses: logs attach a label before and a port behind them without a clear boundary. */
function redactIpv6(run: string): string {
  if (run.length > maxIpv6Length) return run
  const groups = run
    .replace(/\.+$/, '')
    .replace(/(?<!:):$/, '')
    .split(':')
  if (groups.length < 3) return run
  for (const [first, last] of [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ] as const) {
    const address = groups.slice(first, groups.length - last).join(':')
    const canonical = address.includes(':') ? canonicalAddress(address) : null
    if (canonical !== null) return isLocalAddress(canonical) ? run : run.replace(address, '[address]')
  }
  return run
}

/** Whether the address is one that every machine has, or no address at all. */
const isLocalAddress = (address: string | null) =>
  address === null || ['0.0.0.0', '::', '::1'].includes(address) || address.startsWith('127.')

/** Whether letters and digits look generated: hexadecimal digests and keys, parts of Base64. */
function isLikelySecret(run: string): boolean {
  if (run.length < 24) return false
  const digits = run.length - run.replace(/\d/g, '').length
  if (digits < 2 || digits === run.length) return false
  return run.length >= 32 || (/[a-z]/.test(run) && /[A-Z]/.test(run))
}
