import type { EggVariable } from '../../db/tables/egg-variables.ts'
import { isJsonObject, readRequiredText, readText, type JsonObject, type Reading } from './document.ts'
import { ruleProblems } from './rules.ts'
import { isReservedInPelican, isReservedName, isVariableName } from './variable-names.ts'

export type EggVariableImport = Pick<
  EggVariable,
  'name' | 'description' | 'envVariable' | 'defaultValue' | 'userViewable' | 'userEditable' | 'rules'
>
/** Which panel wrote the document; they differ in names, booleans and order. */
export type EggDialect = 'pterodactyl' | 'pelican'
/** Variables in order, and the names that differ from the written ones (written → stored). */
export type ParsedVariables = { variables: EggVariableImport[]; renames: Map<string, string> }

/**
 * Reads `variables` of an egg document. Reserved names are an issue in Pterodactyl documents and become
 * `SERVER_<name>` in Pelican ones, whose names are upper-cased. Of a name used twice the later one counts.
 */
export function parseVariables(document: JsonObject, dialect: EggDialect, reading: Reading): ParsedVariables {
  const list = document.variables ?? []
  if (!Array.isArray(list)) reading.issues.push({ field: 'variables', problem: 'must be a list' })
  const renames = new Map<string, string>()
  const byName = new Map<string, EggVariableImport>()
  for (const { item, index } of inOrder(Array.isArray(list) ? list : [], dialect)) {
    const field = `variables.${index}`
    if (!isJsonObject(item)) {
      reading.issues.push({ field, problem: 'must be an object' })
      continue
    }
    const variable = parseVariable(item, field, dialect, renames, reading)
    if (byName.has(variable.envVariable)) {
      reading.warnings.push(`${field}: ${variable.envVariable} is defined twice, the later one counts`)
    }
    byName.set(variable.envVariable, variable)
  }
  return { variables: [...byName.values()], renames }
}

/** Writes stored names for the written ones in a startup command: `{{NAME}}`, `${NAME}` and `$NAME`. */
export function renameInStartup(startup: string, renames: Map<string, string>): string {
  return startup.replace(/(\{\{|\$\{?)(\w+)/g, (whole: string, opening: string, name: string) => {
    const stored = renames.get(name)
    return stored === undefined ? whole : opening + stored
  })
}

function inOrder(list: unknown[], dialect: EggDialect): { item: unknown; index: number }[] {
  const indexed = list.map((item, index) => ({ item, index }))
  if (dialect === 'pterodactyl') return indexed
  const position = (item: unknown) =>
    isJsonObject(item) && typeof item.sort === 'number' ? item.sort : Infinity
  return indexed.toSorted((a, b) =>
    position(a.item) < position(b.item) ? -1 : position(a.item) > position(b.item) ? 1 : 0,
  )
}

function parseVariable(
  item: JsonObject,
  field: string,
  dialect: EggDialect,
  renames: Map<string, string>,
  reading: Reading,
): EggVariableImport {
  const rules = parseRules(item.rules, `${field}.rules`, reading)
  const envVariable = parseName(item, `${field}.env_variable`, dialect, renames, reading)
  for (const problem of ruleProblems(rules)) {
    reading.warnings.push(
      `${field}: ${envVariable} has a rule that cannot be used (${problem.rule}): ${problem.parameters.join(',')}`,
    )
  }
  return {
    name: readRequiredText(item, 'name', 191, reading, `${field}.name`),
    description: readText(item, 'description', `${field}.description`, reading) ?? '',
    envVariable,
    defaultValue: parseDefault(item.default_value, rules, `${field}.default_value`, dialect, reading),
    userViewable: isOn(item.user_viewable),
    userEditable: isOn(item.user_editable),
    rules,
  }
}

function parseName(
  item: JsonObject,
  field: string,
  dialect: EggDialect,
  renames: Map<string, string>,
  reading: Reading,
): string {
  const written = readText(item, 'env_variable', field, reading) ?? ''
  if (!isVariableName(written)) {
    reading.issues.push({ field, problem: 'must be 1 to 191 letters, digits and underscores' })
    return written
  }
  if (dialect === 'pterodactyl') {
    if (isReservedName(written)) reading.issues.push({ field, problem: `${written} is a reserved name` })
    return written
  }
  const upper = written.toUpperCase()
  const stored = isReservedInPelican(upper) ? `SERVER_${upper}` : upper
  if (stored !== written) {
    renames.set(written, stored)
    reading.warnings.push(`${field}: ${written} is now named ${stored}`)
  }
  return stored
}

function parseRules(value: unknown, field: string, reading: Reading): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join('|')
  reading.issues.push({ field, problem: 'must be text or a list of texts' })
  return ''
}

/** Booleans become what a `boolean` rule accepts, else what the document's own panel would make of them. */
function parseDefault(
  value: unknown,
  rules: string,
  field: string,
  dialect: EggDialect,
  reading: Reading,
): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') {
    if (dialect === 'pelican' && !/(^|\|)\s*bool(ean)?\s*(\||$)/.test(rules)) return String(value)
    return value ? '1' : '0'
  }
  reading.issues.push({ field, problem: 'must be text' })
  return ''
}

function isOn(value: unknown): boolean {
  return value === true || value === 1 || value === '1'
}
