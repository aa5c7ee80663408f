import { bundleServer } from '../server-bundler.ts'
import { runScript } from '../deployment.ts'
import { prepareSnapshot } from '../../platform/local/pglite.ts'
import { readOptions } from '../program-options.ts'

readOptions(
  `Usage: node src/cli/scripts/bundle-server.ts

Bundles the panel for Node into dist/server, which \`npm start\` runs while no file of it has changed since, and makes
the snapshot of the embedded database that a first start unpacks.`,
  {},
)

await runScript(async () => {
  await bundleServer()
  await prepareSnapshot()
})
