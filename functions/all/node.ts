import { tellVerb } from '../../src/cli/verbs.ts'
import { runNode } from '../../src/platform/node-main.ts'
import { surfaces } from '../../src/surfaces/all.ts'

await runNode(surfaces, tellVerb)
