/** What the rules of a variable say about how it is asked for. */
export type VariableRules = {
  kind: 'switch' | 'choice' | 'number' | 'text'
  choices: string[]
  isRequired: boolean
  /** Rules that are worth a word to whoever types. */
  said: SaidRule[]
}

/** A rule as texts name it, with its values. Bounds of texts are lengths. */
type SaidRule = {
  name:
    | 'required'
    | 'numeric'
    | 'alpha'
    | 'url'
    | 'regex'
    | `${'min' | 'max' | 'between' | 'size'}${'' | '_length'}`
  values: string[]
}

/** Reads rules as eggs write them: `required|string|max:20`. What stands behind `regex:` may hold any sign. */
export function readRules(text: string): VariableRules {
  const rules = split(text).map((rule) => {
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
    said: rules.flatMap(({ name, value }) => saidOf(name, value, isNumber)),
  }
}

function saidOf(name: string, value: string, isNumber: boolean): SaidRule[] {
  if (name === 'required' || name === 'url') return [{ name, values: [] }]
  if (name === 'numeric' || name === 'integer') return [{ name: 'numeric', values: [] }]
  if (name.startsWith('alpha')) return [{ name: 'alpha', values: [] }]
  if (name === 'regex') return [{ name, values: [value] }]
  if (name !== 'min' && name !== 'max' && name !== 'size' && name !== 'between') return []
  return [{ name: isNumber ? name : `${name}_length`, values: value.split(',') }]
}

/** A regular expression runs to the end: it may hold the sign that parts rules. */
function split(text: string): string[] {
  const at = text.search(/(^|\|)(not_)?regex:/)
  if (at < 0) return text.split('|').filter(Boolean)
  const before = text.slice(0, at)
  return [...before.split('|').filter(Boolean), text.slice(at).replace(/^\|/, '')]
}
