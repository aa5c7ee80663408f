import { canonicalAddress } from '../addresses.ts'

/**
 * The log without what identifies people or opens doors: addresses (loopback and `0.0.0.0` stay), e-mail
 * addresses, passwords, tokens, keys and long secrets, and without terminal colours, which would hide them. Best
 * effort: it knows what secrets usually look like. The time is linear in the length, whatever the text.
 */
export const redact = (log: string): string => steps.reduce((text, step) => step(text), log)

type Step = (text: string) => string

// Each pattern either starts at few places (a look-behind keeps it from the middle of a run), takes what it
// matches as it comes, or is bounded: otherwise hostile text would make it quadratic.

const replacing =
  (pattern: RegExp, replacement: string): Step =>
  (text) =>
    text.replace(pattern, replacement)

const asking =
  (pattern: RegExp, judge: (found: string) => string): Step =>
  (text) =>
    text.replace(pattern, (found) => judge(found))

// oxlint-disable-next-line no-control-regex -- escape sequences begin with a control character
const terminalSequence = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*\u0007?|[@-Z\\^_])/g

const secretName =
  '(?:pass(?:word|wd|phrase)|\\bpass(?!\\w)|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)'
const separator = `\\w{0,32}\\\\?["']?[ \\t]{0,8}(?:=>|[:=])[ \\t]{0,8}`
const value = `(?:\\\\?"[^"\\n]*|\\\\?'[^'\\n]*|[^\\s"',;&]+)`

const steps: Step[] = [
  replacing(terminalSequence, ''),
  withoutPrivateKeys,
  replacing(/\b((?:proxy-)?authorization|(?:set-)?cookie)["']?[ \t]{0,8}[:=][^\n]*/gi, '$1: [redacted]'),
  replacing(/(\/\/)[^\s/:@]{0,64}:[^\s/@]{1,256}@/g, '$1[redacted]@'),
  replacing(/\b(bearer|basic)[ \t]{1,8}[\w+/.~-]{8,}={0,2}/gi, '$1 [redacted]'),
  replacing(/(\/(?:login|register|changepassword|changepw))[ \t]{1,8}[^\n]+/gi, '$1 [redacted]'),
  replacing(new RegExp(`(${secretName}${separator})${value}`, 'gi'), '$1[redacted]'),
  replacing(/(?<![\w-])eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g, '[redacted]'),
  replacing(/(?<!\w)(?:ptl[ac]|p(?:app|acc))_\w+/g, '[redacted]'),
  replacing(/(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+/g, '[e-mail]'),
  asking(/[\w:.]+/g, withoutIpv6),
  asking(/(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)/g, (found) =>
    isPublicKnowledge(canonicalAddress(found)) ? found : '[address]',
  ),
  asking(/[A-Za-z\d]+/g, (found) => (isSecret(found) ? '[redacted]' : found)),
]

/** From each first line of a private key to its last one, or to the end of the text when that is missing. */
function withoutPrivateKeys(text: string): string {
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

const longestIpv6Run = 80

/** Logs write a label in front and a port behind an address without saying where it begins and ends. */
function withoutIpv6(run: string): string {
  if (run.length > longestIpv6Run) return run
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
    if (canonical !== null) return isPublicKnowledge(canonical) ? run : run.replace(address, '[address]')
  }
  return run
}

/** Addresses that every machine has; text that is none is no address either. */
const isPublicKnowledge = (address: string | null) =>
  address === null || ['0.0.0.0', '::', '::1'].includes(address) || address.startsWith('127.')

/** Letters and digits that nobody wrote by hand: hexadecimal digests and keys, the parts of Base64. */
function isSecret(run: string): boolean {
  if (run.length < 24) return false
  const digits = run.length - run.replace(/\d/g, '').length
  if (digits < 2 || digits === run.length) return false
  return run.length >= 32 || (/[a-z]/.test(run) && /[A-Z]/.test(run))
}
