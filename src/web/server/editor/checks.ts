/** What is wrong with a text: where, when that is known, and why, in the words of the parser. */
export type Problem = { position: number | null; reason: string | null }

/** Checks texts of one format, and formats those without a problem. */
export type Checker = {
  /** Returns the first problem of a text whose lines end with `\n`. */
  findProblem: (text: string) => Problem | null
  /** Returns the text in its usual form; null when that would lose something. */
  format: (text: string) => string | null
}

const loadJson = async () => (await import('./check-json.ts')).jsonChecker
const loadYaml = async () => (await import('./check-yaml.ts')).yamlChecker

/** Returns a loader for the checker of a file, by its name; null when its format has none. */
export function checkerOf(name: string): (() => Promise<Checker>) | null {
  if (/\.(json|mcmeta)$/i.test(name)) return loadJson
  return /\.ya?ml$/i.test(name) ? loadYaml : null
}
