/** How a variable is edited, by its rules. */
export type VariableRules = {
  kind: 'switch' | 'choice' | 'number' | 'text'
  choices: string[]
  isRequired: boolean
  /** Rules to show below the field. */
  hints: RuleHint[]
}

/** A rule as the texts name it, with its values. Limits of texts are lengths. */
type RuleHint = {
  name:
    | 'required'
    | 'numeric'
    | 'alpha'
    | 'url'
    | 'regex'
    | `${'min' | 'max' | 'between' | 'size'}${'' | '_length'}`
  values: string[]
}

/** Parses the rules of an egg: `required|string|max:20`. The value of `regex:` may contain any character. */
export function readRules(text: string): VariableRules {
  const rules = splitRules(text).map((rule) => {
    const [name = '', ...rest] = rule.split(':')
    return { name: name.trim(), value: rest.join(':') }
  })
  const find = (name: string) => rules.find((rule) => rule.name === name)
  const isNumber = rules.some(({ name }) => name === 'numeric' || name === 'integer')
  const choices = find('in')?.value.split(',') ?? []
  const isSwitch =
    find('boolean') !== undefined || (choices.length === 2 && choices.includes('0') && choices.includes('1'))
  return {
    kind: isSwitch ? 'switch' : choices.length > 0 ? 'choice' : isNumber ? 'number' : 'text',
    choices,
    isRequired: find('required') !== undefined,
    hints: rules.flatMap(({ name, value }) => ruleHints(name, value, isNumber)),
  }
}

function ruleHints(name: string, value: string, isNumber: boolean): RuleHint[] {
  if (name === 'required' || name === 'url') return [{ name, values: [] }]
  if (name === 'numeric' || name === 'integer') return [{ name: 'numeric', values: [] }]
  if (name.startsWith('alpha')) return [{ name: 'alpha', values: [] }]
  if (name === 'regex') return [{ name, values: [value] }]
  if (name !== 'min' && name !== 'max' && name !== 'size' && name !== 'between') return []
  return [{ name: isNumber ? name : `${name}_length`, values: value.split(',') }]
}

/** A regular expression runs to the end of the text, since it may contain the separator. */
function splitRules(text: string): string[] {
  const at = text.search(/(^|\|)(not_)?regex:/)
  if (at < 0) return text.split('|').filter(Boolean)
  const before = text.slice(0, at)
  return [...before.split('|').filter(Boolean), text.slice(at).replace(/^\|/, '')]
}
