import { join } from 'node:path'
import { readOptions, refuseWords } from '../platform/local/options.ts'
import { type BundleSize, budgets, lambdaSize, type Surface, surfaces } from './bundles.ts'
import { deployAll, measure, runScript, runTool, runToolQuietly } from './deployment.ts'

const usage = `Usage: npm run deploy:lambda -- [--region REGION] [--remote-only] [--package [--out DIR]]

Brings the database of DATABASE_URL to the newest schema, then deploys to AWS Lambda with the variables of the
environment, which must be complete.
  --region REGION  as in us-east-1; AWS_REGION when left out, else eu-central-1
  --remote-only    deploys the remote function alone, as a stack of its own, for daemons of another region
  --package        packages alone, and prints sizes: needs neither database nor credentials.
                   Exit code 1 when a function is over its budget
  --out DIR        keeps the packages there`

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
if (out !== undefined && !isDry) refuseWords(usage, '--out needs --package.')
if (isRemote && region === undefined) refuseWords(usage, '--remote-only needs --region.')
if (region !== undefined && !/^[a-z]{2}(-[a-z]+)+-\d$/.test(region))
  refuseWords(usage, `--region ${region} is no region of AWS.`)

const functions: Surface[] = isRemote ? ['remote'] : surfaces
const about = [
  ...(isRemote ? ['--stage', 'remote'] : []),
  ...(region === undefined ? [] : ['--region', region]),
]

await runScript(() =>
  isDry
    ? measure(out, pack)
    : deployAll(
        process.env,
        [{ name: functions.join(', '), run: () => runTool('serverless', ['deploy', ...about]) }],
        'lambda',
      ),
)

async function pack(folder: string): Promise<BundleSize[]> {
  await runToolQuietly('serverless', ['package', '--package', folder, ...about])
  return Promise.all(functions.map((name) => lambdaSize(name, join(folder, `${name}.zip`), budgets[name])))
}
