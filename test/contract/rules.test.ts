import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** Families of rules by which people are kept apart from each other, and how many rules each has. */
const families = { AU: 15, NW: 5, FE: 5 }
const rules = Object.entries(families).flatMap(([family, count]) =>
  Array.from({ length: count }, (_, at) => `${family}-${at + 1}`),
)

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

it('no test is named after a rule that there is not', () => {
  const ofFamilies = named.filter((rule) =>
    Object.keys(families).some((family) => rule.startsWith(`${family}-`)),
  )
  expect(ofFamilies.filter((rule) => !rules.includes(rule))).toEqual([])
})
