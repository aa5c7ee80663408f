import { readEnv } from '../../platform/env.ts'
import { callOperation, columns, type Command } from '../command.ts'
import type { RotationReport } from '../operations/secrets-rotate.ts'

/** `secrets:rotate`; `secrets:reseal` in earlier versions. */
export const secretsRotate: Command = {
  synopsis: 'secrets:rotate [--check]',
  summary:
    'Encrypts every stored secret with the first key of APP_KEYS. Exit code 1 while a secret needs another key.',
  help: `  --check  changes nothing: counts the secrets under each key

The panel may run meanwhile; a secret that it changes at the same time is left as it is. Deploy APP_KEYS with
the new key to every function before. Remove a key from APP_KEYS once no secret needs it.`,
  options: { check: { type: 'boolean' } },
  positionals: [0, 0],
  run: async (raw, args) => {
    const check = args.values.check === true
    // The name that a running panel of an earlier version knows, too.
    const report = await callOperation<RotationReport>(readEnv(raw), args, 'secrets:reseal', { check })
    const isDone = Object.keys(report.left).length === 0
    return { text: formatReport(report), json: report, exitCode: isDone ? 0 : 1 }
  },
}

function formatReport({ newest, done, columns: found, left }: RotationReport): string {
  const lines = found.map(({ column, keys }): [string, string] => {
    const result = done?.find((each) => each.column === column)
    const phrases = [
      result && `${result.resealed} re-encrypted`,
      result?.changed && `${result.changed} changed meanwhile`,
      result?.failed && `${result.failed} cannot be decrypted`,
      `now ${formatCounts(keys) || 'none'}`,
    ]
    return [column, phrases.filter(Boolean).join(', ')]
  })
  const end = formatCounts(left)
    ? `Still needed: ${formatCounts(left)}.`
    : `Only ${newest} is needed: remove other keys from APP_KEYS.`
  return `${columns(lines)}\n${end}`
}

const formatCounts = (keys: Record<string, number>) =>
  Object.entries(keys)
    .map(([id, count]) => `${count} under ${id}`)
    .join(', ')
