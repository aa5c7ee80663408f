// Writes the source files that are generated and not checked in: the list of assets and the route tree.
import { fileURLToPath } from 'node:url'
import { resolveConfig } from 'vite'
import { writeDefaultAssets } from './default-assets.ts'

writeDefaultAssets()
// The router's plugin writes the route tree as soon as the configuration is read.
await resolveConfig({ configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)) }, 'build')
