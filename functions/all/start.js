// What `npm start` runs: the bundle that `npm run build` has made, which starts with a fraction of the time and memory, or
// else the sources. With `--liftoff-only` the embedded database is compiled once: the optimizing compiler takes 600 MiB for
// one of its functions, and seconds, for a third of the speed. The other options keep memory: docs/operations.md#memory.
import './node-version.js'
import { builtProgram } from '../../src/platform/built-program.js'

await import(builtProgram('main.mjs') ?? './node.ts')
