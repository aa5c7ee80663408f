import { readEnv } from '../platform/env.ts'
import { faultOf } from './faults.ts'
import { printFault } from './output.ts'
import { perform } from './perform.ts'

try {
  await perform(readEnv(process.env), { verb: 'seed', input: null })
  console.log('The eggs that come with the panel are stored and up to date.')
} catch (error) {
  printFault(faultOf(error), false)
  process.exitCode = 1
}
