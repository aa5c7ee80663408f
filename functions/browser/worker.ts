import { worker } from '../../src/platform/workers.ts'
import { browser } from '../../src/surfaces/browser.ts'

export default worker([browser])
