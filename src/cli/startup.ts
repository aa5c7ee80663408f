import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../platform/local/options.ts'
import { type Surface, surfaces } from './bundles.ts'
import { runQuietly, runScript } from './deployment.ts'
import { VerbError } from './faults.ts'
import { startupBudget, startupCpu } from './startup-cpu.ts'
import { zipEntries } from './zip-entries.ts'

readOptions(
  `Usage: npm run startup

Bundles every function for both clouds and prints how many milliseconds of processor loading it takes.
Exit code 1 when one takes more than ${startupBudget}.`,
  {},
)

/** The bundle of a function as a file. */
type FindBundle = (folder: string, name: Surface) => Promise<string>

const workerBundle: FindBundle = async (folder, name) => join(folder, name, 'worker.js')

const lambdaBundle: FindBundle = async (folder, name) => {
  const code = zipEntries(await readFile(join(folder, `${name}.zip`))).find((entry) =>
    entry.name.endsWith('lambda.mjs'),
  )
  if (!code) throw new VerbError(`There is no code in the bundle of ${name}.`)
  const file = join(folder, `${name}.mjs`)
  await writeFile(file, code.data())
  return file
}

const clouds = [
  { name: 'workers', script: 'deploy-workers.ts', words: ['--dry-run'], find: workerBundle },
  { name: 'lambda', script: 'deploy-lambda.ts', words: ['--package'], find: lambdaBundle },
]

await runScript(async () => {
  const slow: string[] = []
  for (const { name, script, words, find } of clouds) {
    const folder = await mkdtemp(join(tmpdir(), 'roost-startup-'))
    try {
      await runQuietly(join('src', 'cli', script), [...words, '--out', folder])
      for (const surface of surfaces) {
        const milliseconds = await startupCpu(await find(folder, surface))
        if (milliseconds > startupBudget) slow.push(`${surface} on ${name}`)
        console.log(
          `${name.padEnd(8)}${surface.padEnd(12)}${milliseconds.toFixed(0).padStart(5)} ms of processor`,
        )
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  if (slow.length > 0) throw new VerbError(`More than ${startupBudget} ms: ${slow.join(', ')}.`)
})
