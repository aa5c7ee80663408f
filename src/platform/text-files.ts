import { readFile } from 'node:fs/promises'
import { keepTexts } from '../adapters/texts.ts'

const folder = new URL('../../src/locales/', import.meta.url)

/** The texts as files beside the code, where there is a disk: bundles are two folders deep, too. */
export const textFiles = keepTexts((file) => readFile(new URL(file, folder), 'utf8'))
