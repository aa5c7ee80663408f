import { lambda } from '../../src/platform/lambda.ts'
import { remote } from '../../src/surfaces/remote.ts'

export const handler = lambda([remote])
