import { httpOauth } from '../../src/adapters/oauth.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { localeFiles } from '../../src/platform/locale-files.ts'
import { webAssets } from '../../src/platform/web-assets.ts'
import { browser } from '../../src/surfaces/browser.ts'

export const handler = lambda([browser], { oauth: httpOauth(), assets: webAssets, locales: localeFiles })
