import { existsSync, writeFileSync } from 'node:fs'

const file = new URL('../surfaces/browser/web-assets.json', import.meta.url)

/**
 * Writes an empty list of assets unless a build has written the real one; without a build, pages load no
 * application.
 */
export function writeDefaultAssets(): void {
  if (existsSync(file)) return
  writeFileSync(file, `${JSON.stringify({ scripts: [], preloads: [], styles: [], home: [] }, null, 2)}\n`)
}
