import { fileURLToPath } from 'node:url'

/** The folder of the repository, whose files the panel reads. The path fits bundles, too, which are two folders deep. */
export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url))
