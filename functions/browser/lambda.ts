import { lambda } from '../../src/platform/lambda.ts'
import { browser } from '../../src/surfaces/browser.ts'

export const handler = lambda([browser])
