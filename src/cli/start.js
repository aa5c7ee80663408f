// What `npm run panel` runs: the command line that `npm run build` has made, which starts in a third of the time, or else the
// sources.
import { builtProgram } from '../platform/built-program.js'

await import(builtProgram('panel.mjs') ?? './panel.ts')
