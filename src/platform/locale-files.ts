import { readFile } from 'node:fs/promises'
import { cacheLocaleFiles } from '../adapters/locales.ts'

const folder = new URL('../../src/locales/', import.meta.url)

/** Reads the locales from files beside the code. The path fits bundles, too, which are two folders deep. */
export const localeFiles = cacheLocaleFiles((file) => readFile(new URL(file, folder), 'utf8'))
