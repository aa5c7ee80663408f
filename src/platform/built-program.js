// JavaScript without newer syntax, since an old Node has to read it before it is told that it is too old.
import { readFileSync, statSync } from 'node:fs'

const root = new URL('../../', import.meta.url)
const folder = new URL('dist/server/', root)

/**
 * Returns the URL of a program that `npm run build` has made; null where there is none, or where a file that it was made of
 * has changed since.
 */
export function builtProgram(name) {
  try {
    const builtAt = statSync(new URL(name, folder)).mtimeMs
    const inputs = JSON.parse(readFileSync(new URL('inputs.json', folder), 'utf8'))
    return inputs.every((path) => statSync(new URL(path, root)).mtimeMs <= builtAt)
      ? new URL(name, folder).href
      : null
  } catch {
    return null
  }
}
