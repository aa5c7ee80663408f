import { lazyOauth } from '../../src/platform/lazy-oauth.ts'
import { workersLocaleFiles } from '../../src/platform/workers-locale-files.ts'
import { worker } from '../../src/platform/workers.ts'
import { browser } from '../../src/surfaces/browser.ts'

export default worker([browser], { oauth: lazyOauth, locales: workersLocaleFiles })
