// What `npm start` runs: the bundle in dist/server where `npm run build` has made it and nothing of it has changed since,
// which starts with a fraction of the time and memory, or else the sources. With `--liftoff-only` the embedded database is
// compiled once: the optimizing compiler takes 600 MiB for one of its functions, and seconds, for a third of the speed.
// The other options keep memory: docs/operations.md#memory.
import { readFileSync, statSync } from 'node:fs'
import './node-version.js'

const root = new URL('../../', import.meta.url)
const bundle = new URL('dist/server/main.mjs', root)

/** Whether the bundle exists and is newer than every file that it was made of. */
function isCurrent() {
  try {
    const builtAt = statSync(bundle).mtimeMs
    const inputs = JSON.parse(readFileSync(new URL('inputs.json', bundle), 'utf8'))
    return inputs.every((path) => statSync(new URL(path, root)).mtimeMs <= builtAt)
  } catch {
    return false
  }
}

await import(isCurrent() ? bundle.href : './node.ts')
