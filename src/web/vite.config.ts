import { cpSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import { build as bundleScript } from 'esbuild'
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
    const first = neededBy(entry.fileName, bundle)
    const styles = [...first].flatMap((chunk) => [...(chunk.viteMetadata?.importedCss ?? [])])
    const addresses = (chunks: Set<Rolldown.OutputChunk>, others: Set<Rolldown.OutputChunk>) =>
      [...chunks].filter((chunk) => !others.has(chunk)).map(({ fileName }) => address(fileName))
    const assets = {
      scripts: [address(entry.fileName)],
      preloads: addresses(first, new Set([entry])),
      styles: styles.map(address),
      home: addresses(neededByHome(bundle), first),
    }
    writeFileSync(here('../surfaces/browser/web-assets.json'), `${JSON.stringify(assets, null, 2)}\n`)
  },
})

/** The routes of the page with which most visits begin; their code is loaded at the same time as the application. */
const homeRoutes = ['_app/route', '_app/index']

/** Returns what the code of the home page needs, by the names of its routes. */
function neededByHome(bundle: Rolldown.OutputBundle) {
  const needed = new Set<Rolldown.OutputChunk>()
  for (const file of Object.values(bundle)) {
    const module = file.type === 'chunk' ? (file.facadeModuleId ?? '') : ''
    if (homeRoutes.some((route) => module.includes(`/routes/${route}.tsx?`)))
      neededBy(file.fileName, bundle, needed)
  }
  return needed
}

/** Left out of what a browser keeps for the time without the panel: pages of administrators, the API reference, single languages of the editor. */
const neverKept =
  /\/(admin|docs)\/|\/routes\/(docs|_app\/admin)|node_modules\/@codemirror\/(lang-|legacy-modes)/

/** Bundles the worker that keeps players' pages, with the addresses of their code. */
const serviceWorker = (): Plugin => ({
  name: 'service-worker',
  async writeBundle(_options, bundle) {
    const entry = Object.values(bundle).find((file) => file.type === 'chunk' && file.isEntry)
    const kept = keptChunks(entry?.fileName ?? '', bundle)
    const styles = kept.flatMap((chunk) => [...(chunk.viteMetadata?.importedCss ?? [])])
    const fonts = Object.keys(bundle).filter((name) => name.endsWith('.woff2'))
    const files = [...new Set([...kept.map(({ fileName }) => fileName), ...styles, ...fonts])]
    await bundleScript({
      entryPoints: [here('offline/service-worker.ts')],
      outfile: here('../../dist/web/service-worker.js'),
      bundle: true,
      minify: true,
      define: { codeFiles: JSON.stringify(files.map((file) => `/${file}`)) },
    })
  },
})

/** Returns a chunk and all that it may load, at once or later. */
function keptChunks(name: string, bundle: Rolldown.OutputBundle, seen = new Set<Rolldown.OutputChunk>()) {
  const chunk = bundle[name]
  if (chunk?.type !== 'chunk' || seen.has(chunk) || neverKept.test(chunk.facadeModuleId ?? ''))
    return [...seen]
  seen.add(chunk)
  for (const next of [...chunk.imports, ...chunk.dynamicImports]) keptChunks(next, bundle, seen)
  return [...seen]
}

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
    serviceWorker(),
  ],
  resolve: {
    // React includes it since version 18.
    alias: [
      { find: /^use-sync-external-store\/shim(\/index\.js)?$/, replacement: 'preact/compat' },
      { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
      { find: /^react\/jsx-runtime$/, replacement: 'preact/compat/jsx-runtime' },
      { find: /^react-dom(\/test-utils)?$/, replacement: 'preact/compat' },
      { find: /^react$/, replacement: 'preact/compat' },
    ],
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
              priority: 2,
              test: /node_modules\/(preact|@tanstack\/(react-)?(query|router|store)(-core)?|@tanstack\/history|i18next)\//,
            },
            { name: 'start', tags: ['$initial'] },
            // Icons of most pages; the frame has others, which the sign-in page need not load.
            { name: 'icons', test: /node_modules\/lucide-react\//, minShareCount: 8, priority: 1 },
            // Small modules of many pages: each in a file of its own is a request for half a kilobyte.
            {
              name: 'common',
              test: /\/src\/web\/(app\/(formats|logo|page-title|use-|footer-links)|components\/(button|card|copy-button|field|search-box|states|avatar|badge|menu|meter|relative-time|status-shape)\.)/,
              minShareCount: 2,
            },
            {
              name: 'frame',
              test: /\/src\/web\/(app\/(?!shortcuts-dialog|commands|command-dialogs|command-picker|auth-layout)|notifications\/bell|announcements\/|games?\/|server\/(power|state-badge|addresses|files\/tray-)|home\/(listed-server|server-facts)|routes\/_app\/route)/,
              minShareCount: 2,
            },
            {
              name: 'page-icons',
              test: /node_modules\/lucide-react\/dist\/esm\/icons\/(?!key-round|eye|lock)/,
              minShareCount: 2,
            },
          ],
        },
      },
    },
  },
})
