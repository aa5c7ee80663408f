import { httpOauth } from '../../src/adapters/oauth.ts'
import { workersLocaleFiles } from '../../src/platform/workers-locale-files.ts'
import { worker } from '../../src/platform/workers.ts'
import { browser } from '../../src/surfaces/browser.ts'

export default worker([browser], { oauth: httpOauth(), locales: workersLocaleFiles })
