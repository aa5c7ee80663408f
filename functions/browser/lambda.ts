import { lambda } from '../../src/platform/lambda.ts'
import { lazyOauth } from '../../src/platform/lazy-oauth.ts'
import { localeFiles } from '../../src/platform/locale-files.ts'
import { webAssets } from '../../src/platform/web-assets.ts'
import { browser } from '../../src/surfaces/browser.ts'

export const handler = lambda([browser], { oauth: lazyOauth, assets: webAssets, locales: localeFiles })
