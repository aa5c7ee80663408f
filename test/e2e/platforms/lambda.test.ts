import { openLambda } from './on-lambda.ts'
import { platformSuite } from './suite.ts'

await platformSuite('Lambda', openLambda)
