/** Splits a migration into statements, without comments. */
const statementsOf = (text: string) =>
  text
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '')

const name = '(?:"?public"?\\.)?"?(\\w+)"?'
const patterns = {
  table: new RegExp(`^create (?:unlogged )?table (?:if not exists )?${name}`, 'i'),
  column: new RegExp(`^alter table ${name} add column (?:if not exists )?"?(\\w+)"? (.*)$`, 'i'),
  constraint: new RegExp(`^alter table ${name} add constraint "?\\w+"? (.*)$`, 'i'),
  check: new RegExp(`^alter table ${name} add constraint "?(\\w+)"? (check .*)$`, 'i'),
  droppedConstraint: new RegExp(`^alter table ${name} drop constraint "?(\\w+)"?$`, 'i'),
  uniqueIndex: new RegExp(`^create unique index .*? on ${name} (?:using \\w+ )?(\\(.*)$`, 'i'),
  droppedDefault: new RegExp(`^alter table ${name} alter column "?(\\w+)"? drop default$`, 'i'),
  harmless: [
    /^create (?:index|type|sequence|extension if not exists) /i,
    new RegExp(`^alter table ${name} alter column "?\\w+"? (?:drop not null|set default .*)$`, 'i'),
    /^alter type \S+ add value /i,
  ],
}

/** The checks that migrations declare, by name: their conditions without spaces. */
export function checksIn(migration: string): Map<string, string> {
  const declared = migration.matchAll(/constraint "(\w+)" (check .*?)(?=,?\s*$|;)/gim)
  return new Map(
    Array.from(declared, ([, check = '', condition = '']) => [check, condition.replaceAll(/\s/g, '')]),
  )
}

/** Whether a condition differs from another by a larger last number alone, which is its upper bound. */
function isWider(condition: string, than: string): boolean {
  const split = (text: string) => /^(.*?)(\d+)\)*$/.exec(text.replaceAll(/\s/g, '')) ?? []
  const [[, text, bound], [, oldText, oldBound]] = [split(condition), split(than)]
  return text !== undefined && text === oldText && Number(bound) >= Number(oldBound)
}

/**
 * What in a migration could hurt code that does not know it yet: all but new tables, indexes, columns that need no
 * value, wider types, constraints on what is new, and checks of earlier migrations that go or get a higher bound: older
 * code writes nothing that they refuse. Statements of other kinds count too, until a person has checked about them and
 * written them down here.
 */
export function contractionsIn(migration: string, earlierChecks = new Map<string, string>()): string[] {
  const droppedChecks = new Set<string>()
  const tables = new Set<string>()
  const columns = new Set<string>()
  const nullableDefaults = new Set<string>()
  /** Checks that a constraint names only new columns, or at least one that is null in all rows of older code. */
  const isOnNew = (table = '', definition = '') => {
    const own = definition.split(/\breferences\b/i)[0] ?? ''
    const named = Array.from(own.matchAll(/"(\w+)"/g), ([, column]) => column)
    return tables.has(table) || named.some((column) => columns.has(`${table}.${column}`))
  }
  return statementsOf(migration).filter((statement) => {
    const [, table] = patterns.table.exec(statement) ?? []
    if (table !== undefined) return void tables.add(table)
    const [, owner, column, type = ''] = patterns.column.exec(statement) ?? []
    if (owner !== undefined) {
      const needsValue = /\bnot null\b/i.test(type) && !/\b(?:default|generated)\b/i.test(type)
      if (!needsValue && !/\bdefault\b/i.test(type)) columns.add(`${owner}.${column}`)
      if (!/\bnot null\b/i.test(type)) nullableDefaults.add(`${owner}.${column}`)
      return needsValue && !tables.has(owner)
    }
    // A default that fills the existing rows of a nullable column, and then goes: older code knows neither.
    const [, filled, filledColumn] = patterns.droppedDefault.exec(statement) ?? []
    if (filled !== undefined) return !nullableDefaults.has(`${filled}.${filledColumn}`)
    const [, , dropped = ''] = patterns.droppedConstraint.exec(statement) ?? []
    if (earlierChecks.has(dropped)) return void droppedChecks.add(dropped)
    const [, , check = '', condition = ''] = patterns.check.exec(statement) ?? []
    if (droppedChecks.has(check)) return !isWider(condition, earlierChecks.get(check) ?? '')
    const held = patterns.constraint.exec(statement) ?? patterns.uniqueIndex.exec(statement)
    if (held) return !isOnNew(held[1], held[2])
    return !patterns.harmless.some((pattern) => pattern.test(statement))
  })
}
