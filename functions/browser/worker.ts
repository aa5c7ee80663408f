import { httpOauth } from '../../src/adapters/oauth.ts'
import { workersTextFiles } from '../../src/platform/workers-text-files.ts'
import { worker } from '../../src/platform/workers.ts'
import { browser } from '../../src/surfaces/browser.ts'

export default worker([browser], { oauth: httpOauth(), texts: workersTextFiles })
