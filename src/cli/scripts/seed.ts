import type { KeptEgg } from '../../../drizzle/seed.ts'
import { commandOf } from '../../platform/command-names.ts'
import { readEnv } from '../../platform/env.ts'
import { readOptions } from '../program-options.ts'
import { announceDatabase, createOption } from '../database.ts'
import { faultOf } from '../faults.ts'
import { printFault } from '../output.ts'
import { runOperation } from '../run-operation.ts'

const { replace: replacesEdited, create: creates = false } = readOptions(
  `Usage: ${commandOf('seed', '[--replace] [--create]')}

Writes the included eggs. Keeps and lists those that were edited or replaced.
  --replace  writes these, too
  --create   creates the embedded database where there is none`,
  { replace: { type: 'boolean', default: false }, ...createOption },
)

try {
  const env = readEnv(process.env)
  await announceDatabase(env, creates)
  const request = { verb: 'seed', input: { replacesEdited } }
  const { kept } = (await runOperation(env, request)) as { kept: KeptEgg[] }
  console.log('The included eggs are up to date.')
  if (kept.length > 0) console.log('Kept, because they were edited (--replace writes them, too):')
  for (const { id, name, nest } of kept) console.log(`  ${id}  ${nest}: ${name}`)
} catch (error) {
  printFault(faultOf(error), false)
  process.exitCode = 1
}
