// What `node dist/server/main.mjs` runs: the panel as it is built, without `node_modules`. The embedded database is
// compiled once, as with `--liftoff-only`: the optimizing compiler takes 600 MiB for one of its functions.
import { setFlagsFromString } from 'node:v8'
import './node-version.js'

setFlagsFromString('--no-wasm-tier-up')
setFlagsFromString('--no-wasm-dynamic-tiering')
await import('./node.ts')
