import { expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { typesOf } from '../../src/http/json-schema.ts'
import type { RouteRow } from '../../src/http/metadata.ts'
import { type TextRule, textRuleOf } from '../../src/http/normalise.ts'
import { bodySchemaOf, fieldsOf } from './garbage.ts'

const names = new Set(['password', 'password_confirmation', 'current_password'])

/** Paths of the texts in a body that hold a password. */
function passwordsIn(row: RouteRow): string[][] {
  const schema = bodySchemaOf(row)
  return fieldsOf(schema ?? {})
    .filter((field) => names.has(field.path.at(-1) ?? '') && typesOf(field.schema).includes('string'))
    .map(({ path }) => path)
}

/** The rule for the text at this path of the row's body. */
function ruleAt(row: RouteRow, path: string[]): TextRule | undefined {
  const input = row.metadata.find((metadata) => metadata.kind === 'input' && metadata.target === 'json')
  const whole: TextRule = input?.kind === 'input' ? textRuleOf(input.schema()) : {}
  return path.reduce<TextRule | undefined>(
    (rule, name) => (typeof rule === 'object' ? rule[name] : rule),
    whole,
  )
}

const fields = listMountedRoutes().flatMap((row) =>
  passwordsIn(row).map((path) => ({ row, path, name: `${row.method} ${row.path} ${path.join('.')}` })),
)

it('every password of a body keeps its blanks', () => {
  expect(fields.length).toBeGreaterThan(15)
  const trimmed = fields.filter(({ row, path }) => ruleAt(row, path) !== 'untrimmed')
  expect(trimmed.map(({ name }) => name)).toEqual([])
})
