import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheLocaleFiles } from '../adapters/locales.ts'
import { contentFolder } from './content-folders.ts'

const folder = contentFolder('locales')

/** Reads the locales from files of the repository, or from their copies beside a bundle. */
export const localeFiles = cacheLocaleFiles((file) => readFile(join(folder, file), 'utf8'))
