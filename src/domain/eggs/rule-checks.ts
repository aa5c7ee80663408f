import { isTimezone } from '../timezones.ts'
import {
  isDate,
  isEmail,
  isInteger,
  isIpv4,
  isIpv6,
  isJson,
  isNumeric,
  isUrl,
  isUuid,
} from './rule-formats.ts'

/** What a check needs besides the value: whether it is null, and whether the rules call it a number. */
export type CheckContext = { isNull: boolean; isNumber: boolean }
/** Whether a value satisfies a rule; a null value is passed as `''`. */
export type Check = (value: string, context: CheckContext) => boolean
/** Creates the check of a rule from its parameters; null when they are invalid. */
export type CheckFactory = (parameters: string[]) => Check | null

const passAlways = (): Check => () => true
const simpleCheck =
  (accepts: (value: string) => boolean): CheckFactory =>
  () =>
    accepts

/** Compares the value as a number when the rules call it one, else its count of characters. */
function sizeCheck(count: number, accepts: (size: number, bounds: number[]) => boolean): CheckFactory {
  return (parameters) => {
    const bounds = parseNumbers(parameters, count)
    return bounds && ((value, context) => accepts(measureSize(value, context), bounds))
  }
}

function numberCheck(accepts: (number: number, bound: number) => boolean): CheckFactory {
  return (parameters) => {
    const [bound] = parseNumbers(parameters, 1) ?? []
    if (bound === undefined) return null
    return (value) => isNumeric(value) && accepts(Number(value), bound)
  }
}

function digitCountCheck(
  count: number,
  accepts: (length: number, bounds: number[]) => boolean,
): CheckFactory {
  return (parameters) => {
    const bounds = parseNumbers(parameters, count)
    return bounds && ((value) => /^\d+$/.test(value) && accepts(value.length, bounds))
  }
}

function listCheck(accepts: (value: string, items: string[]) => boolean): CheckFactory {
  return (items) => (items.length === 0 ? null : (value) => accepts(value, items))
}

function characterCheck(unicode: RegExp, ascii: RegExp): CheckFactory {
  return ([range]) => {
    if (range !== undefined && range !== 'ascii') return null
    const pattern = range === 'ascii' ? ascii : unicode
    return (value) => pattern.test(value)
  }
}

/** Every rule but the patterns, by name, with Laravel's names and meanings. */
export const checkFactories: ReadonlyMap<string, CheckFactory> = new Map<string, CheckFactory>([
  ['required', simpleCheck((value) => value.trim() !== '')],
  ['filled', simpleCheck((value) => value.trim() !== '')],
  ['present', passAlways],
  ['nullable', passAlways],
  ['sometimes', passAlways],
  ['bail', passAlways],
  ['string', () => (_value, context) => !context.isNull],
  ['numeric', simpleCheck(isNumeric)],
  ['integer', simpleCheck(isInteger)],
  ['boolean', simpleCheck((value) => value === '1' || value === '0')],
  ['max', sizeCheck(1, (size, [bound = 0]) => size <= bound)],
  ['min', sizeCheck(1, (size, [bound = 0]) => size >= bound)],
  ['size', sizeCheck(1, (size, [bound = 0]) => size === bound)],
  ['between', sizeCheck(2, (size, [low = 0, high = 0]) => size >= low && size <= high)],
  ['gt', numberCheck((number, bound) => number > bound)],
  ['gte', numberCheck((number, bound) => number >= bound)],
  ['lt', numberCheck((number, bound) => number < bound)],
  ['lte', numberCheck((number, bound) => number <= bound)],
  ['digits', digitCountCheck(1, (length, [bound = 0]) => length === bound)],
  ['digits_between', digitCountCheck(2, (length, [low = 0, high = 0]) => length >= low && length <= high)],
  ['in', listCheck((value, items) => items.includes(value))],
  ['not_in', listCheck((value, items) => !items.includes(value))],
  ['starts_with', listCheck((value, items) => items.some((item) => value.startsWith(item)))],
  ['ends_with', listCheck((value, items) => items.some((item) => value.endsWith(item)))],
  ['alpha', characterCheck(/^[\p{L}\p{M}]+$/u, /^[a-z]+$/i)],
  ['alpha_num', characterCheck(/^[\p{L}\p{M}\p{N}]+$/u, /^[a-z\d]+$/i)],
  ['alpha_dash', characterCheck(/^[\p{L}\p{M}\p{N}_-]+$/u, /^[\w-]+$/)],
  ['url', (schemes) => (value) => isUrl(value, schemes)],
  ['ip', simpleCheck((value) => isIpv4(value) || isIpv6(value))],
  ['ipv4', simpleCheck(isIpv4)],
  ['ipv6', simpleCheck(isIpv6)],
  ['uuid', simpleCheck(isUuid)],
  ['email', simpleCheck(isEmail)],
  ['json', simpleCheck(isJson)],
  ['timezone', simpleCheck(isTimezone)],
  ['date', simpleCheck(isDate)],
])

/** Rules that apply to a null value even when the variable is nullable. */
export const rulesRunOnNull: ReadonlySet<string> = new Set(['required', 'filled', 'present'])

function measureSize(value: string, context: CheckContext): number {
  return context.isNumber && isNumeric(value) ? Number(value) : Array.from(value).length
}

function parseNumbers(parameters: string[], count: number): number[] | null {
  const texts = parameters.map((parameter) => parameter.trim())
  return texts.length === count && texts.every(isNumeric) ? texts.map(Number) : null
}
