import { openWorkers } from './on-workers.ts'
import { platformSuite } from './suite.ts'

await platformSuite('Workers', openWorkers)
