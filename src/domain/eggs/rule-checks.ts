import {
  isDate,
  isEmail,
  isInteger,
  isIpv4,
  isIpv6,
  isJson,
  isNumeric,
  isTimezone,
  isUrl,
  isUuid,
} from './rule-formats.ts'

/** What a check must know beside the value: whether it is null, and whether the rules call it a number. */
export type CheckContext = { isNull: boolean; isNumber: boolean }
/** Whether a value satisfies a rule; a null value arrives as `''`. */
export type Check = (value: string, context: CheckContext) => boolean
/** Makes the check of a rule from its parameters, or null when they make no sense. */
export type CheckMaker = (parameters: string[]) => Check | null

const always = (): Check => () => true
const plain =
  (accepts: (value: string) => boolean): CheckMaker =>
  () =>
    accepts

/** Compares a number when the rules call the value one and it is, else counts characters. */
function sized(count: number, accepts: (size: number, bounds: number[]) => boolean): CheckMaker {
  return (parameters) => {
    const bounds = numbers(parameters, count)
    return bounds && ((value, context) => accepts(sizeOf(value, context), bounds))
  }
}

function compared(accepts: (number: number, bound: number) => boolean): CheckMaker {
  return (parameters) => {
    const [bound] = numbers(parameters, 1) ?? []
    if (bound === undefined) return null
    return (value) => isNumeric(value) && accepts(Number(value), bound)
  }
}

function counted(count: number, accepts: (length: number, bounds: number[]) => boolean): CheckMaker {
  return (parameters) => {
    const bounds = numbers(parameters, count)
    return bounds && ((value) => /^\d+$/.test(value) && accepts(value.length, bounds))
  }
}

function listed(accepts: (value: string, items: string[]) => boolean): CheckMaker {
  return (items) => (items.length === 0 ? null : (value) => accepts(value, items))
}

function lettered(unicode: RegExp, ascii: RegExp): CheckMaker {
  return ([range]) => {
    if (range !== undefined && range !== 'ascii') return null
    const pattern = range === 'ascii' ? ascii : unicode
    return (value) => pattern.test(value)
  }
}

/** Every rule but the patterns, by name. Laravel's names and meanings, as eggs are written for them. */
export const checkMakers: ReadonlyMap<string, CheckMaker> = new Map<string, CheckMaker>([
  ['required', plain((value) => value.trim() !== '')],
  ['filled', plain((value) => value.trim() !== '')],
  ['present', always],
  ['nullable', always],
  ['sometimes', always],
  ['bail', always],
  ['string', () => (_value, context) => !context.isNull],
  ['numeric', plain(isNumeric)],
  ['integer', plain(isInteger)],
  ['boolean', plain((value) => value === '1' || value === '0')],
  ['max', sized(1, (size, [bound = 0]) => size <= bound)],
  ['min', sized(1, (size, [bound = 0]) => size >= bound)],
  ['size', sized(1, (size, [bound = 0]) => size === bound)],
  ['between', sized(2, (size, [low = 0, high = 0]) => size >= low && size <= high)],
  ['gt', compared((number, bound) => number > bound)],
  ['gte', compared((number, bound) => number >= bound)],
  ['lt', compared((number, bound) => number < bound)],
  ['lte', compared((number, bound) => number <= bound)],
  ['digits', counted(1, (length, [bound = 0]) => length === bound)],
  ['digits_between', counted(2, (length, [low = 0, high = 0]) => length >= low && length <= high)],
  ['in', listed((value, items) => items.includes(value))],
  ['not_in', listed((value, items) => !items.includes(value))],
  ['starts_with', listed((value, items) => items.some((item) => value.startsWith(item)))],
  ['ends_with', listed((value, items) => items.some((item) => value.endsWith(item)))],
  ['alpha', lettered(/^[\p{L}\p{M}]+$/u, /^[a-z]+$/i)],
  ['alpha_num', lettered(/^[\p{L}\p{M}\p{N}]+$/u, /^[a-z\d]+$/i)],
  ['alpha_dash', lettered(/^[\p{L}\p{M}\p{N}_-]+$/u, /^[\w-]+$/)],
  ['url', (schemes) => (value) => isUrl(value, schemes)],
  ['ip', plain((value) => isIpv4(value) || isIpv6(value))],
  ['ipv4', plain(isIpv4)],
  ['ipv6', plain(isIpv6)],
  ['uuid', plain(isUuid)],
  ['email', plain(isEmail)],
  ['json', plain(isJson)],
  ['timezone', plain(isTimezone)],
  ['date', plain(isDate)],
])

/** Rules that run on a null value even when the variable is nullable. */
export const runsOnNull: ReadonlySet<string> = new Set(['required', 'filled', 'present'])

function sizeOf(value: string, context: CheckContext): number {
  return context.isNumber && isNumeric(value) ? Number(value) : Array.from(value).length
}

function numbers(parameters: string[], count: number): number[] | null {
  const texts = parameters.map((parameter) => parameter.trim())
  return texts.length === count && texts.every(isNumeric) ? texts.map(Number) : null
}
