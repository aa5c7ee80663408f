import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'

const root = join(import.meta.dirname, '../..')

export type Import = {
  /** Path of the importing file from the root. */
  from: string
  /** The file, from the root, or the name of the package. */
  to: string
  isPackage: boolean
  /** Whether the import is erased when the code runs. */
  isType: boolean
  /** The text between `import` and `from`. */
  names: string
}

/** Lists the TypeScript files in these folders, by their path from the root. */
export const sourceFiles = (...folders: string[]): string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/')),
  )

/** Reads a file by its path from the root. */
export const readSource = (file: string): string => readFileSync(join(root, file), 'utf8')

const statement = /^(?:import|export)\s+(type\s+)?([\w*{},\s$]*?)\s*from\s+'([^']+)'/gm
const sideEffect = /^import\s+()()'([^']+)'/gm
const dynamic = /\bimport\(\s*()()'([^']+)'\s*[,)]/g

/** Lists everything that a file imports or re-exports, also dynamically. */
export function importsOf(file: string): Import[] {
  const text = readSource(file)
  return [statement, sideEffect, dynamic].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, type, names = '', target = '']) => ({
      from: file,
      to: target.startsWith('.') ? posix.join(dirname(file), target) : packageOf(target),
      isPackage: !target.startsWith('.'),
      isType: type !== undefined && type !== '',
      names: names.trim(),
    })),
  )
}

const packageOf = (target: string) =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')

/** Finds a cycle of imports; null when there is none. */
export function findCycle(imports: Import[]): string[] | null {
  const targets = new Map<string, string[]>()
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to])
  const done = new Set<string>()
  const visit = (file: string, way: string[]): string[] | null => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file]
    if (done.has(file)) return null
    for (const target of targets.get(file) ?? []) {
      const cycle = visit(target, [...way, file])
      if (cycle) return cycle
    }
    done.add(file)
    return null
  }
  for (const file of targets.keys()) {
    const cycle = visit(file, [])
    if (cycle) return cycle
  }
  return null
}
