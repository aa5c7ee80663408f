import type { EggVariable } from '../../db/tables/egg-variables.ts'
import { isJsonObject, readRequiredText, readText, type JsonObject, type ParseContext } from './document.ts'
import { eggIssue } from './format-error.ts'
import { describeRuleProblems } from './rules.ts'
import { isReservedInPelican, isReservedName, isVariableName } from './variable-names.ts'

export type EggVariableImport = Pick<
  EggVariable,
  'name' | 'description' | 'envVariable' | 'defaultValue' | 'userViewable' | 'userEditable' | 'rules'
>
/** The panel that wrote the document; they differ in names, booleans and order. */
export type EggDialect = 'pterodactyl' | 'pelican'
/** Variables in order, and renamed ones by their names in the document. */
export type ParsedVariables = { variables: EggVariableImport[]; renames: Map<string, string> }

/**
 * Parses the `variables` of an egg document. Reserved names are an issue in Pterodactyl documents and become
 * `SERVER_<name>` in Pelican ones, whose names are upper-cased. The last variable of a name counts.
 */
export async function parseVariables(
  document: JsonObject,
  dialect: EggDialect,
  context: ParseContext,
): Promise<ParsedVariables> {
  const list = isEmptyObject(document.variables) ? [] : (document.variables ?? [])
  if (!Array.isArray(list)) context.issues.push(eggIssue('variables', 'egg_not_list'))
  const renames = new Map<string, string>()
  const byName = new Map<string, EggVariableImport>()
  for (const { item, index } of sortVariables(Array.isArray(list) ? list : [], dialect)) {
    const field = `variables.${index}`
    if (!isJsonObject(item)) {
      context.issues.push(eggIssue(field, 'egg_not_object'))
      continue
    }
    const variable = await parseVariable(item, field, dialect, renames, context)
    if (byName.has(variable.envVariable)) {
      context.warnings.push(`${field}: ${variable.envVariable} is defined twice, the later one counts`)
    }
    byName.set(variable.envVariable, variable)
  }
  return { variables: [...byName.values()], renames }
}

/** Replaces renamed variables in a startup command: `{{NAME}}`, `${NAME}` and `$NAME`. */
export function renameInStartup(startup: string, renames: Map<string, string>): string {
  return startup.replace(/(\{\{|\$\{?)(\w+)/g, (whole: string, opening: string, name: string) => {
    const stored = renames.get(name)
    return stored === undefined ? whole : opening + stored
  })
}

function sortVariables(list: unknown[], dialect: EggDialect): { item: unknown; index: number }[] {
  const indexed = list.map((item, index) => ({ item, index }))
  if (dialect === 'pterodactyl') return indexed
  const position = (item: unknown) =>
    isJsonObject(item) && typeof item.sort === 'number' ? item.sort : Infinity
  return indexed.toSorted((a, b) =>
    position(a.item) < position(b.item) ? -1 : position(a.item) > position(b.item) ? 1 : 0,
  )
}

async function parseVariable(
  item: JsonObject,
  field: string,
  dialect: EggDialect,
  renames: Map<string, string>,
  context: ParseContext,
): Promise<EggVariableImport> {
  const rules = parseRules(item.rules, `${field}.rules`, context)
  const envVariable = parseName(item, `${field}.env_variable`, dialect, renames, context)
  for (const warning of await describeRuleProblems(envVariable, rules)) {
    context.warnings.push(`${field}: ${warning}`)
  }
  return {
    name: readRequiredText(item, 'name', 191, context, `${field}.name`),
    description: readText(item, 'description', `${field}.description`, context) ?? '',
    envVariable,
    defaultValue: parseDefault(item.default_value, rules, `${field}.default_value`, dialect, context),
    userViewable: isFlagSet(item.user_viewable),
    userEditable: isFlagSet(item.user_editable),
    rules,
  }
}

function parseName(
  item: JsonObject,
  field: string,
  dialect: EggDialect,
  renames: Map<string, string>,
  context: ParseContext,
): string {
  const written = readText(item, 'env_variable', field, context) ?? ''
  if (!isVariableName(written)) {
    context.issues.push(eggIssue(field, 'egg_variable_name_invalid'))
    return written
  }
  if (dialect === 'pterodactyl') {
    if (isReservedName(written))
      context.issues.push(eggIssue(field, 'egg_variable_name_reserved', { name: written }))
    return written
  }
  const upper = written.toUpperCase()
  const stored = isReservedInPelican(upper) ? `SERVER_${upper}` : upper
  if (stored !== written) {
    renames.set(written, stored)
    context.warnings.push(`${field}: ${written} is now named ${stored}`)
  }
  return stored
}

function parseRules(value: unknown, field: string, context: ParseContext): string {
  if (value === null || value === undefined || isEmptyObject(value)) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join('|')
  context.issues.push(eggIssue(field, 'egg_not_text_or_texts'))
  return ''
}

/** Converts booleans to what a `boolean` rule accepts, else to what the document's own panel stores. */
function parseDefault(
  value: unknown,
  rules: string,
  field: string,
  dialect: EggDialect,
  context: ParseContext,
): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') {
    if (dialect === 'pelican' && !/(^|\|)\s*bool(ean)?\s*(\||$)/.test(rules)) return String(value)
    return value ? '1' : '0'
  }
  context.issues.push(eggIssue(field, 'egg_not_text'))
  return ''
}

/** PHP writes an empty list as an empty object in YAML. */
function isEmptyObject(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0
}

function isFlagSet(value: unknown): boolean {
  return value === true || value === 1 || value === '1'
}
