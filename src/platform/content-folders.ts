import { join } from 'node:path'
import { repositoryRoot } from './repository.ts'

/** Set by the bundler of the Node process, in `src/cli/server-bundler.ts`. */
declare const isServerBundle: true | undefined

/** Whether this code runs from the bundle of the Node process, beside which `node_modules` may be missing. */
export const isBundled = typeof isServerBundle !== 'undefined'

/** What the panel reads at run time, by the name of its copy in `dist/`: its folder in the repository, and its files. */
export const contentFolders = {
  drizzle: { source: 'drizzle', files: ['*.sql', 'meta/_journal.json', 'eggs/**/*.json'] },
  locales: { source: join('src', 'locales'), files: ['**/*.json'] },
} as const satisfies Record<string, { source: string; files: string[] }>

/** Returns the path of a folder that is read at run time: in the repository, or its copy where a bundle runs. */
export const contentFolder = (name: keyof typeof contentFolders): string =>
  join(repositoryRoot, isBundled ? join('dist', name) : contentFolders[name].source)
