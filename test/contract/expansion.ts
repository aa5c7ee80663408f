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
  uniqueIndex: new RegExp(`^create unique index .*? on ${name} (?:using \\w+ )?(\\(.*)$`, 'i'),
  droppedDefault: new RegExp(`^alter table ${name} alter column "?(\\w+)"? drop default$`, 'i'),
  harmless: [
    /^create (?:index|type|sequence|extension if not exists) /i,
    new RegExp(`^alter table ${name} alter column "?\\w+"? (?:drop not null|set default .*)$`, 'i'),
    /^alter type \S+ add value /i,
  ],
}

/**
 * What in a migration could hurt code that does not know it yet: all but new tables, indexes, columns that need no
 * value, wider types, and constraints on what is new. Statements of other kinds count too, until a person has checked
 * about them and written them down here.
 */
export function contractionsIn(migration: string): string[] {
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
    const held = patterns.constraint.exec(statement) ?? patterns.uniqueIndex.exec(statement)
    if (held) return !isOnNew(held[1], held[2])
    return !patterns.harmless.some((pattern) => pattern.test(statement))
  })
}
