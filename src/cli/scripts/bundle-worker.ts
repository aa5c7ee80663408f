import { runScript } from '../deployment.ts'
import { exitWithUsage, readOptions } from '../program-options.ts'
import { bundleWorker, workerNames } from '../bundler.ts'

const usage = `Usage: node src/cli/scripts/bundle-worker.ts --name NAME

Bundles a worker into dist/workers/NAME; wrangler.toml runs it before each deployment.
  --name NAME  ${workerNames.join(', ')}`

const options = readOptions(usage, { name: { type: 'string' } })
const name = workerNames.find((each) => each === options.name)
if (name === undefined) exitWithUsage(usage, `--name has to be one of ${workerNames.join(', ')}.`)

await runScript(() => bundleWorker(name))
