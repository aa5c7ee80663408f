import { join } from 'node:path'
import { readOptions, exitWithUsage } from '../program-options.ts'
import { type BundleSize, readLambda, sizeAtStart, type SurfaceName, surfaceNames } from '../bundles.ts'
import { deployAll, printBundleSizes, runScript, runTool, runToolQuietly } from '../deployment.ts'

const usage = `Usage: npm run deploy:lambda -- [--region REGION] [--remote-only] [--package [--out DIR]]

Migrates the database of DATABASE_URL to the newest schema, then deploys to AWS Lambda with the variables of the
environment, which must be complete.
  --region REGION  such as us-east-1; default: AWS_REGION, or eu-central-1
  --remote-only    deploys only the remote function, as a separate stack, for daemons in another region
  --package        only packages and prints the sizes; needs no database and no credentials.
                   Exit code 1 when a function is over its budget
  --out DIR        folder for the packages`

const {
  package: isDry,
  'remote-only': isRemote,
  region,
  out,
} = readOptions(usage, {
  package: { type: 'boolean', default: false },
  'remote-only': { type: 'boolean', default: false },
  region: { type: 'string' },
  out: { type: 'string' },
})
if (out !== undefined && !isDry) exitWithUsage(usage, '--out requires --package.')
if (isRemote && region === undefined) exitWithUsage(usage, '--remote-only requires --region.')
if (region !== undefined && !/^[a-z]{2}(-[a-z]+)+-\d$/.test(region))
  exitWithUsage(usage, `--region ${region} is not an AWS region.`)

const functions: SurfaceName[] = isRemote ? ['remote'] : surfaceNames
const deployArgs = [
  ...(isRemote ? ['--stage', 'remote'] : []),
  ...(region === undefined ? [] : ['--region', region]),
]

await runScript(() =>
  isDry
    ? printBundleSizes(out, pack)
    : deployAll(
        process.env,
        [{ name: functions.join(', '), run: () => runTool('serverless', ['deploy', ...deployArgs]) }],
        'lambda',
      ),
)

async function pack(folder: string): Promise<BundleSize[]> {
  await runToolQuietly('serverless', ['package', '--package', folder, ...deployArgs])
  return Promise.all(
    functions.map(async (name) => sizeAtStart(name, await readLambda(join(folder, `${name}.zip`)))),
  )
}
