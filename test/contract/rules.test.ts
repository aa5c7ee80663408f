import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ruleIds } from './doc-anchors.ts'

/** Families of docs/rules.md whose rules each have a test in their name. */
const families = ['AU', 'NW', 'FE']
const rules = ruleIds().filter((id) => families.some((family) => id.startsWith(`${family}-`)))

const folder = join(import.meta.dirname, '..')
/** Rules in front of titles: `'AU-2, AU-3: signs in once …'`. */
const named = globSync('**/*.ts', { cwd: folder })
  .map((file) => readFileSync(join(folder, file), 'utf8'))
  .flatMap((text) =>
    [...text.matchAll(/'((?:[A-Z]{2}-\d+(?:, )?)+): /g)].flatMap(([, ids = '']) => ids.split(', ')),
  )

it.each(rules)('the rule %s has a test that is named after it', (rule) => {
  expect(named).toContain(rule)
})

it('names no test after a rule that docs/rules.md does not have', () => {
  const ofFamilies = named.filter((rule) => families.some((family) => rule.startsWith(`${family}-`)))
  expect(ofFamilies.filter((rule) => !rules.includes(rule))).toEqual([])
})
