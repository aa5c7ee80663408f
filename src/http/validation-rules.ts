import type * as z from 'zod'

type RawIssue = z.core.$ZodRawIssue

const typeRules: Record<string, string> = {
  string: 'string',
  number: 'numeric',
  int: 'integer',
  boolean: 'boolean',
  array: 'array',
  object: 'array',
  record: 'array',
  date: 'date_format',
}

/**
 * Returns the ecosystem's name of the rule that an issue breaks, which becomes the issue's message. A check
 * whose rule has another name gives it as its message.
 */
export function ruleName(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined || issue.input === null) return 'required'
      return typeRules[String(issue.expected)] ?? String(issue.expected)
    case 'too_small':
      return 'min'
    case 'too_big':
      return 'max'
    case 'invalid_format':
      return String(issue.format)
    case 'invalid_value':
      return issue.input === undefined || issue.input === null ? 'required' : 'in'
    case 'not_multiple_of':
      return 'integer'
    case 'invalid_union':
      return issue.input === undefined || issue.input === null ? 'required' : ''
    default:
      return String(issue.code ?? '')
  }
}

const ruleDescriptions: Record<string, string> = {
  required: 'is required',
  required_without: 'is required when the alternative field is not sent',
  present: 'must be present',
  filled: 'must not be empty',
  string: 'must be a string',
  integer: 'must be an integer',
  numeric: 'must be a number',
  boolean: 'must be true or false',
  array: 'must be an array',
  file: 'must be a file',
  email: 'must be a valid e-mail address',
  regex: 'has a format that is not allowed',
  in: 'is not one of the allowed values',
  cron: 'must be one field of a cron expression',
  timezone: 'must be an IANA time zone',
  required_unless: 'is required',
  unique: 'has already been taken',
  exists: 'does not exist',
  url: 'must be a valid URL',
  https: 'must start with https://',
  origin: 'must be an origin, as in https://eu.panel.example.com',
  prohibited: 'is not allowed',
  uuid: 'must be a UUID',
  ip: 'must be an IP address',
  distinct: 'has a duplicate value',
  alpha_dash: 'may only contain letters, numbers, dashes and underscores',
  confirmed: 'does not match its confirmation',
  p_username:
    'must start and end with a letter or number and may only contain letters, numbers, dashes, underscores and periods',
  p_fqdn: 'must be a host name or address',
}

/** Describes a failed rule of a field in a sentence. */
export function describeFailure(
  field: string,
  rule: string,
  limits: { minimum?: unknown; maximum?: unknown } = {},
): string {
  const subject = `The ${field || 'request'} field`
  const { minimum, maximum } = limits
  if (rule === 'between' && (minimum !== undefined || maximum !== undefined))
    return `${subject} is out of range.`
  if (rule === 'size') return `${subject} has the wrong size.`
  if (minimum !== undefined) return `${subject} must be at least ${String(minimum)}.`
  if (maximum !== undefined) return `${subject} may not be greater than ${String(maximum)}.`
  return `${subject} ${ruleDescriptions[rule] ?? 'is not valid'}.`
}
