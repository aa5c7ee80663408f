import { join } from 'node:path'
import { readOptions, exitWithUsage } from '../program-options.ts'
import {
  type BundleFiles,
  type BundleSize,
  readWorker,
  sizeAtStart,
  surfaceNames,
  wholePanelSize,
} from '../bundles.ts'
import {
  type Deployment,
  deployAll,
  printBundleSizes,
  runScript,
  runTool,
  runToolQuietly,
} from '../deployment.ts'

const usage = `Usage: npm run deploy:workers -- [--dry-run [--out DIR]]   a worker for each surface
       npm run deploy:worker -- [--dry-run [--out DIR]]    the whole panel in one worker

Migrates the database of DATABASE_URL to the newest schema, then deploys to Cloudflare Workers.
  --dry-run  only bundles and prints the sizes; needs no database and no credentials.
             Exit code 1 when a function is over its budget
  --out DIR  folder for the bundles, one subfolder each`

const {
  'dry-run': isDry,
  whole: isWhole,
  out,
} = readOptions(usage, {
  'dry-run': { type: 'boolean', default: false },
  whole: { type: 'boolean', default: false },
  out: { type: 'string' },
})
if (out !== undefined && !isDry) exitWithUsage(usage, '--out requires --dry-run.')

type Worker = { name: string; environment: string; measure: (files: BundleFiles) => BundleSize }

const wholePanel: Worker = { name: 'roost', environment: '', measure: wholePanelSize }
const workers: Worker[] = isWhole
  ? [wholePanel]
  : surfaceNames.map((name) => ({ name, environment: name, measure: (files) => sizeAtStart(name, files) }))

await runScript(() =>
  isDry ? printBundleSizes(out, bundle) : deployAll(process.env, workers.map(deploymentOf)),
)

async function bundle(folder: string): Promise<BundleSize[]> {
  const sizes: BundleSize[] = []
  for (const { name, environment, measure } of workers) {
    const to = join(folder, name)
    await runToolQuietly('wrangler', ['deploy', '--dry-run', `--env=${environment}`, '--outdir', to])
    sizes.push(measure(await readWorker(to)))
  }
  return sizes
}

function deploymentOf({ name, environment }: Worker): Deployment {
  return { name, run: () => runTool('wrangler', ['deploy', `--env=${environment}`]) }
}
