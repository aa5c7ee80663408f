import { join } from 'node:path'
import { readOptions, refuseWords } from '../platform/local/options.ts'
import { type BundleSize, budgets, surfaces, wholeBudget, workerSize } from './bundles.ts'
import { type Deployment, deployAll, measure, runScript, runTool, runToolQuietly } from './deployment.ts'

const usage = `Usage: npm run deploy:workers -- [--dry-run [--out DIR]]   a worker for each surface
       npm run deploy:worker -- [--dry-run [--out DIR]]    the whole panel in one worker

Brings the database of DATABASE_URL to the newest schema, then deploys to Cloudflare Workers.
  --dry-run  bundles alone, and prints sizes: needs neither database nor credentials.
             Exit code 1 when a function is over its budget
  --out DIR  keeps the bundles there, a folder for each`

const {
  'dry-run': isDry,
  whole: isWhole,
  out,
} = readOptions(usage, {
  'dry-run': { type: 'boolean', default: false },
  whole: { type: 'boolean', default: false },
  out: { type: 'string' },
})
if (out !== undefined && !isDry) refuseWords(usage, '--out needs --dry-run.')

type Worker = { name: string; environment: string; budget: number }

const whole: Worker = { name: 'roost', environment: '', budget: wholeBudget }
const workers: Worker[] = isWhole
  ? [whole]
  : surfaces.map((name) => ({ name, environment: name, budget: budgets[name] }))

await runScript(() => (isDry ? measure(out, bundle) : deployAll(process.env, workers.map(deploymentOf))))

async function bundle(folder: string): Promise<BundleSize[]> {
  const sizes: BundleSize[] = []
  for (const { name, environment, budget } of workers) {
    const to = join(folder, name)
    await runToolQuietly('wrangler', ['deploy', '--dry-run', `--env=${environment}`, '--outdir', to])
    sizes.push(await workerSize(name, to, budget))
  }
  return sizes
}

function deploymentOf({ name, environment }: Worker): Deployment {
  return { name, run: () => runTool('wrangler', ['deploy', `--env=${environment}`]) }
}
