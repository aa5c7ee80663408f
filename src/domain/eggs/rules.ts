import { checkMakers, runsOnNull, type Check } from './rule-checks.ts'
import { compilePattern, isMatchable } from './rule-pattern.ts'
import { ruleParameters, splitRules, type WrittenRule } from './rule-syntax.ts'

/**
 * A rule a value does not satisfy, by its name in snake case (`kind: 'value'`), or a rule nobody can
 * satisfy because the egg is written wrongly (`kind: 'configuration'`, `rule` one of `unknown_rule`,
 * `wrong_parameters`, `refused_pattern`, the rule as written as its only parameter).
 */
export type RuleFailure = { kind: 'value' | 'configuration'; rule: string; parameters: string[] }

type CompiledRule = { name: string; parameters: string[]; passes: Check }
type CompiledRules = {
  rules: CompiledRule[]
  problems: RuleFailure[]
  isNullable: boolean
  isNumber: boolean
  bails: boolean
}

const cacheLimit = 500
const cache = new Map<string, CompiledRules>()

/**
 * What a value does wrong by the rules of its variable; empty when it may be stored. Null and `''` are the
 * same. Configuration problems are always included, whatever the value: callers decide by `kind`.
 * Spec: Client API, startup variables.
 */
export function validateVariable(rules: string, value: string | null): RuleFailure[] {
  const compiled = compiledRules(rules)
  const failures = [...compiled.problems]
  const isNull = value === null || value === ''
  for (const rule of compiled.rules) {
    if (isNull && compiled.isNullable && !runsOnNull.has(rule.name)) continue
    if (rule.passes(value ?? '', { isNull, isNumber: compiled.isNumber })) continue
    failures.push({ kind: 'value', rule: rule.name, parameters: rule.parameters })
    if (compiled.bails || rule.name === 'required') break
  }
  return failures
}

/**
 * The rules of a variable that cannot be used. A variable that has any is read-only for clients: what it
 * would have to check cannot be checked.
 */
export function ruleProblems(rules: string): RuleFailure[] {
  return [...compiledRules(rules).problems]
}

function compiledRules(rules: string): CompiledRules {
  const known = cache.get(rules)
  if (known) return known
  const compiled = compileRules(rules)
  const oldest = cache.size >= cacheLimit ? cache.keys().next() : null
  if (oldest && !oldest.done) cache.delete(oldest.value)
  cache.set(rules, compiled)
  return compiled
}

function compileRules(text: string): CompiledRules {
  const rules: CompiledRule[] = []
  const problems: RuleFailure[] = []
  for (const written of splitRules(text)) {
    const compiled = compileRule(written)
    if ('kind' in compiled) problems.push(compiled)
    else rules.push(compiled)
  }
  const names = new Set(rules.map((rule) => rule.name))
  return {
    rules,
    problems,
    isNullable: names.has('nullable'),
    isNumber: names.has('numeric') || names.has('integer'),
    bails: names.has('bail'),
  }
}

function compileRule(written: WrittenRule): CompiledRule | RuleFailure {
  const { name, argument } = written
  if (name === 'regex' || name === 'not_regex') return compilePatternRule(written)
  const make = checkMakers.get(name)
  if (!make) return misconfigured('unknown_rule', written)
  const parameters = ruleParameters(argument)
  const passes = make(parameters)
  return passes ? { name, parameters, passes } : misconfigured('wrong_parameters', written)
}

function compilePatternRule(written: WrittenRule): CompiledRule | RuleFailure {
  const { name, argument } = written
  const matches = argument === null ? null : compilePattern(argument)
  if (!matches) return misconfigured('refused_pattern', written)
  const wanted = name === 'regex'
  return {
    name,
    parameters: [argument ?? ''],
    passes: (value) => isMatchable(value) && matches(value) === wanted,
  }
}

function misconfigured(rule: string, written: WrittenRule): RuleFailure {
  const text = written.argument === null ? written.name : `${written.name}:${written.argument}`
  return { kind: 'configuration', rule, parameters: [text] }
}
