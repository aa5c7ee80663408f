import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Tells the page that starts the application what to load: the entry's script, what it imports, and its styles. */
const webAssets = (): Plugin => ({
  name: 'web-assets',
  writeBundle(_options, bundle) {
    const entry = Object.values(bundle).find((file) => file.type === 'chunk' && file.isEntry)
    if (entry?.type !== 'chunk') throw new Error('The build has no entry.')
    const address = (name: string) => `/${name}`
    const styles = Object.keys(bundle).filter((name) => /^assets\/app-.*\.css$/.test(name))
    const assets = {
      scripts: [address(entry.fileName)],
      preloads: entry.imports.map(address),
      styles: styles.map(address),
    }
    writeFileSync(here('../surfaces/browser/web-assets.json'), `${JSON.stringify(assets, null, 2)}\n`)
  },
})

/** The web application: `npm run build` writes it to `dist/web`; the pages of the browser surface start it. */
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
  ],
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
      // What every page needs comes in one file, which compresses better than many small ones.
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'framework',
              test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-)?(query|router|history|store)|i18next|react-i18next|use-sync-external-store|@radix-ui\/react-(primitive|compose-refs|slot|context|presence|use-|id|portal))/,
            },
          ],
        },
      },
    },
  },
})
