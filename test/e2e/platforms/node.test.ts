import { openNode } from './on-node.ts'
import { platformSuite } from './suite.ts'

await platformSuite('Node', openNode)
