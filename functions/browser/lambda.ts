import { lambda } from '../../src/platform/lambda.ts'
import { webAssets } from '../../src/platform/web-assets.ts'
import { browser } from '../../src/surfaces/browser.ts'

export const handler = lambda([browser], { assets: webAssets })
