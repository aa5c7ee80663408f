// What `node dist/server/main.mjs` runs: the panel as it is built, without `node_modules`. The embedded database is
// compiled once, as with `--liftoff-only`: the optimizing compiler takes 600 MiB for one of its functions.
import { setFlagsFromString } from 'node:v8'
import './node-version.js'

setFlagsFromString('--no-wasm-tier-up')
setFlagsFromString('--no-wasm-dynamic-tiering')
// V8 would allocate among the old objects what has survived for a while, as while requests wait for the database. Whatever
// such an object leads to is kept until V8 collects all garbage, which it then has to do several times a second.
setFlagsFromString('--no-allocation-site-pretenuring')
await import('./node.ts')
