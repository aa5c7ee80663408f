import { checkFactories, rulesRunOnNull, type Check } from './rule-checks.ts'
import { compilePattern, isMatchable } from './rule-pattern.ts'
import { parseRuleParameters, splitRules, type ParsedRule } from './rule-syntax.ts'

/**
 * A rule that a value does not satisfy, by its name in snake case (`kind: 'value'`), or a rule that cannot be
 * used because the egg is wrong (`kind: 'configuration'`, `rule` is `unknown_rule`, `wrong_parameters` or
 * `refused_pattern`, with the rule itself as its only parameter).
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

const maxCachedRuleSets = 500
const cache = new Map<string, CompiledRules>()

/**
 * Validates a value against the rules of its variable; returns no failures when it may be stored. Null and `''`
 * are the same. Configuration failures are always included, whatever the value: callers filter by `kind`. Spec:
 * docs/eggs.md#rules.
 */
export async function validateVariable(rules: string, value: string | null): Promise<RuleFailure[]> {
  const compiled = await getCompiledRules(rules)
  const failures = [...compiled.problems]
  const isNull = value === null || value === ''
  for (const rule of compiled.rules) {
    if (isNull && compiled.isNullable && !rulesRunOnNull.has(rule.name)) continue
    if (rule.passes(value ?? '', { isNull, isNumber: compiled.isNumber })) continue
    failures.push({ kind: 'value', rule: rule.name, parameters: rule.parameters })
    if (compiled.bails || rule.name === 'required') break
  }
  return failures
}

/**
 * Finds the rules of a variable that cannot be used. Such a variable is read-only for users, since its values
 * cannot be checked.
 */
export async function ruleProblems(rules: string): Promise<RuleFailure[]> {
  const { problems } = await getCompiledRules(rules)
  return [...problems]
}

/** Describes each rule of a variable that cannot be used, in one sentence. */
export const describeRuleProblems = async (envVariable: string, rules: string): Promise<string[]> =>
  (await ruleProblems(rules)).map(
    ({ rule, parameters }) =>
      `${envVariable} has a rule that cannot be used (${rule}): ${parameters.join(',')}`,
  )

async function getCompiledRules(rules: string): Promise<CompiledRules> {
  const cached = cache.get(rules)
  if (cached) return cached
  const compiled = await compileRules(rules)
  const oldest = cache.size >= maxCachedRuleSets ? cache.keys().next() : null
  if (oldest && !oldest.done) cache.delete(oldest.value)
  cache.set(rules, compiled)
  return compiled
}

async function compileRules(text: string): Promise<CompiledRules> {
  const rules: CompiledRule[] = []
  const problems: RuleFailure[] = []
  for (const parsedRule of splitRules(text)) {
    const compiled = await compileRule(parsedRule)
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

async function compileRule(parsedRule: ParsedRule): Promise<CompiledRule | RuleFailure> {
  const { name, argument } = parsedRule
  if (name === 'regex' || name === 'not_regex') return compilePatternRule(parsedRule)
  const createCheck = checkFactories.get(name)
  if (!createCheck) return misconfigured('unknown_rule', parsedRule)
  const parameters = parseRuleParameters(argument)
  const passes = createCheck(parameters)
  return passes ? { name, parameters, passes } : misconfigured('wrong_parameters', parsedRule)
}

async function compilePatternRule(parsedRule: ParsedRule): Promise<CompiledRule | RuleFailure> {
  const { name, argument } = parsedRule
  const matches = argument === null ? null : await compilePattern(argument)
  if (!matches) return misconfigured('refused_pattern', parsedRule)
  const expected = name === 'regex'
  return {
    name,
    parameters: [argument ?? ''],
    passes: (value) => isMatchable(value) && matches(value) === expected,
  }
}

function misconfigured(rule: string, parsedRule: ParsedRule): RuleFailure {
  const text = parsedRule.argument === null ? parsedRule.name : `${parsedRule.name}:${parsedRule.argument}`
  return { kind: 'configuration', rule, parameters: [text] }
}
