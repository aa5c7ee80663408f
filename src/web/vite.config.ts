import { cpSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin, type Rolldown } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Writes the list of files that a page loads to start the application: the entry's script, its imports and styles. */
const webAssets = (): Plugin => ({
  name: 'web-assets',
  writeBundle(_options, bundle) {
    const entry = Object.values(bundle).find((file) => file.type === 'chunk' && file.isEntry)
    if (entry?.type !== 'chunk') throw new Error('The build has no entry.')
    const address = (name: string) => `/${name}`
    const first = [...neededBy(entry.fileName, bundle)]
    const styles = first.flatMap((chunk) => [...(chunk.viteMetadata?.importedCss ?? [])])
    const assets = {
      scripts: [address(entry.fileName)],
      preloads: first.filter((chunk) => chunk !== entry).map(({ fileName }) => address(fileName)),
      styles: styles.map(address),
    }
    writeFileSync(here('../surfaces/browser/web-assets.json'), `${JSON.stringify(assets, null, 2)}\n`)
  },
})

/** Copies the texts beside the application, where the browser function on Workers finds them among its assets. */
const texts = (): Plugin => ({
  name: 'texts',
  closeBundle: () => cpSync(here('../locales'), here('../../dist/web/texts'), { recursive: true }),
})

/** Returns a chunk and all that it imports, directly or not. */
function neededBy(name: string, bundle: Rolldown.OutputBundle, seen = new Set<Rolldown.OutputChunk>()) {
  const chunk = bundle[name]
  if (chunk?.type !== 'chunk' || seen.has(chunk)) return seen
  seen.add(chunk)
  for (const imported of chunk.imports) neededBy(imported, bundle, seen)
  return seen
}

/**
 * The configuration of the web application. `npm run build` writes it to `dist/web`; the pages of the browser
 * surface load it.
 */
export default defineConfig({
  root: here('.'),
  publicDir: here('public'),
  plugins: [
    tanstackRouter({
      target: 'react',
      autoCodeSplitting: true,
      routesDirectory: here('routes'),
      generatedRouteTree: here('route-tree.gen.ts'),
      quoteStyle: 'single',
      semicolons: false,
    }),
    react(),
    tailwindcss(),
    webAssets(),
    texts(),
  ],
  resolve: {
    // React includes it since version 18.
    alias: [{ find: /^use-sync-external-store\/shim(\/index\.js)?$/, replacement: 'react' }],
  },
  build: {
    outDir: here('../../dist/web'),
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: true,
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: { app: here('main.tsx') },
      // One file with what every page needs compresses better than many small ones.
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'framework',
              test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-)?(query|router|store)(-core)?|@tanstack\/history|i18next|react-i18next)\//,
            },
            { name: 'start', tags: ['$initial'] },
          ],
        },
      },
    },
  },
})
