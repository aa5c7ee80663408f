const maxInteger = 2n ** 63n - 1n

/** Whether text is a decimal number, with or without sign, fraction and exponent. */
export function isNumeric(text: string): boolean {
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)
}

/** Whether text is a whole number of 64 bits without leading zeros. */
export function isInteger(text: string): boolean {
  if (!/^[+-]?(?:0|[1-9]\d{0,18})$/.test(text)) return false
  const number = BigInt(text.replace('+', ''))
  return number <= maxInteger && number >= -maxInteger - 1n
}

/** Whether text is a URL with a host, and with one of `schemes` unless that is empty. */
export function isUrl(text: string, schemes: string[]): boolean {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/]/i.test(text) || /\s/.test(text) || !URL.canParse(text)) return false
  return schemes.length === 0 || schemes.includes(new URL(text).protocol.slice(0, -1))
}

/** Whether text is an IPv4 address of four decimal parts. */
export function isIpv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
}

/** Whether text is an IPv6 address without zone or brackets. */
export function isIpv6(text: string): boolean {
  return /^[\da-f:.]+$/i.test(text) && text.includes(':') && URL.canParse(`http://[${text}]/`)
}

/** Whether text is an e-mail address: a local part of at most 64 characters, an at sign and a host. */
export function isEmail(text: string): boolean {
  return /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*$/.test(text)
}

/** Whether text is a UUID of any version. */
export function isUuid(text: string): boolean {
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
}

/** Whether text is a JSON document. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Whether text is a date, or a date with time, that exists in the calendar. */
export function isDate(text: string): boolean {
  if (Number.isNaN(Date.parse(text))) return false
  const calendar = /^(\d{4})-(\d\d)-(\d\d)/.exec(text)
  if (!calendar) return true
  const day = new Date(`${calendar[0]}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(calendar[0])
}
