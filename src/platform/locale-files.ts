import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheLocaleFiles } from '../adapters/locales.ts'
import { repositoryRoot } from './repository.ts'

const folder = join(repositoryRoot, 'src', 'locales')

/** Reads the locales from files of the repository. */
export const localeFiles = cacheLocaleFiles((file) => readFile(join(folder, file), 'utf8'))
