import { globSync } from 'node:fs'
import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build as bundle, type Plugin } from 'esbuild'
import { contentFolders } from '../platform/content-folders.ts'
import { repositoryRoot } from '../platform/repository.ts'
import { commonOptions, stubs } from './bundler.ts'

const enginePackage = '@electric-sql/pglite'
/** The files of the embedded database that Node uses. Its code reads the others beside itself. */
const engineFiles = [
  'package.json',
  'LICENSE',
  'dist/index.js',
  'dist/chunk-*.js',
  'dist/fs/nodefs.js',
  'dist/contrib/pg_trgm.js',
  'dist/pg_trgm.tar.gz',
  'dist/initdb.wasm',
  'dist/pglite.wasm',
  'dist/pglite.data',
]

/** Leaves the embedded database in a folder of its own beside the bundle, since it reads files beside its code. */
const engineBesideBundle: Plugin = {
  name: 'engine-beside-bundle',
  setup: (build) => {
    build.onResolve({ filter: new RegExp(`^${enginePackage}`) }, ({ path }) => {
      const file = path === enginePackage ? 'index' : path.slice(enginePackage.length + 1)
      return { external: true, path: `./pglite/dist/${file}.js` }
    })
  },
}

/**
 * Bundles the panel for Node into `server/` of a folder, which needs no `node_modules`: `main.mjs`, the command line `panel.mjs`,
 * `seed.mjs`, `migrate.mjs`, the development daemon `forked.mjs`, `hash-thread.mjs`, source maps, the embedded database, and
 * `inputs.json`, the paths of the files that it was made of. Copies the migrations and texts beside it. Returns the
 * modules that the bundle imports from outside itself.
 */
export async function bundleServer(dist = join(repositoryRoot, 'dist')): Promise<string[]> {
  const outdir = join(dist, 'server')
  await rm(outdir, { recursive: true, force: true })
  const { metafile } = await bundle({
    ...commonOptions,
    entryPoints: {
      main: 'functions/all/main.js',
      panel: 'src/cli/panel.ts',
      seed: 'src/cli/scripts/seed.ts',
      migrate: 'src/cli/scripts/migrate.ts',
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
    define: { isServerBundle: 'true' },
    // Packages that others use where they are installed, with a native module inside.
    external: ['pg-native', 'bufferutil', 'utf-8-validate'],
    plugins: [engineBesideBundle],
    // Its modules: of one of CommonJS, which is imported dynamically, a bundle has the default alone.
    alias: { ...stubs, yaml: './node_modules/yaml/browser/index.js' },
    // Some dependencies are CommonJS inside, and ask for `require`.
    banner: {
      js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
    },
  })
  await copyFiles(join('node_modules', enginePackage), engineFiles, join(outdir, 'pglite'))
  const content = await copyContent(dist)
  // Written last: without it the bundle is not used.
  const code = Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules/'))
  await writeFile(join(outdir, 'inputs.json'), JSON.stringify(['package-lock.json', ...code, ...content]))
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports)
  return [...new Set(imports.filter(({ external }) => external).map(({ path }) => path))]
}

/** Copies what the panel reads at run time, and returns the paths of the copied files in the repository. */
async function copyContent(dist: string): Promise<string[]> {
  const copies = Object.entries(contentFolders).map(async ([name, { source, files }]) => {
    const target = join(dist, name)
    await rm(target, { recursive: true, force: true })
    return copyFiles(source, files, target)
  })
  return (await Promise.all(copies)).flat()
}

/** Copies files that patterns name below a folder of the repository, and returns their paths there. */
async function copyFiles(source: string, patterns: string[], target: string): Promise<string[]> {
  const folder = join(repositoryRoot, source)
  const files = globSync(patterns, { cwd: folder })
  await Promise.all(files.map((file) => cp(join(folder, file), join(target, file))))
  return files.map((file) => join(source, file))
}
