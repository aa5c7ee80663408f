import { readEnv } from '../../platform/env.ts'
import { ask, columns, type Command } from '../command.ts'
import type { ResealingReport } from '../verbs/secrets-reseal.ts'

/** `secrets:reseal` */
export const secretsReseal: Command = {
  synopsis: 'secrets:reseal [--check]',
  summary:
    'Seals every stored secret with the first key of APP_KEYS. Exit code 1 while one needs another key.',
  help: `  --check  changes nothing: counts the secrets under each key

The panel may run meanwhile; what it changes just then is left as it is. Every function of the panel has to
know the first key before. A key that is needed for no secret any more can be taken out of APP_KEYS.`,
  options: { check: { type: 'boolean' } },
  words: [0, 0],
  run: async (raw, given) => {
    const check = given.values.check === true
    const report = await ask<ResealingReport>(readEnv(raw), 'secrets:reseal', { check })
    const isDone = Object.keys(report.left).length === 0
    return { text: textOf(report), json: report, exitCode: isDone ? 0 : 1 }
  },
}

function textOf({ newest, done, columns: found, left }: ResealingReport): string {
  const lines = found.map(({ column, keys }): [string, string] => {
    const result = done?.find((each) => each.column === column)
    const said = [
      result && `${result.resealed} sealed again`,
      result?.changed && `${result.changed} changed meanwhile`,
      result?.failed && `${result.failed} do not open`,
      `now ${countsOf(keys) || 'none'}`,
    ]
    return [column, said.filter(Boolean).join(', ')]
  })
  const end = countsOf(left)
    ? `Still needed: ${countsOf(left)}.`
    : `Only ${newest} is needed: other keys can go.`
  return `${columns(lines)}\n${end}`
}

const countsOf = (keys: Record<string, number>) =>
  Object.entries(keys)
    .map(([id, count]) => `${count} under ${id}`)
    .join(', ')
