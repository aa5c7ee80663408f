import problems from './problems.json' with { type: 'json' }

/** A problem that a line tells of. The rules are data: `problems.json`, the most specific problem first. */
export type Problem = {
  name: string
  /** What is offered, in order. */
  actions: readonly string[]
  /** The version of Java that is needed, where the line says so. */
  java: number | null
  /** A file that says more, below the root of the server. */
  file: string | null
  /** Keeps a server from starting: of one that runs, the line tells of a plugin. */
  onlyBeforeRunning: boolean
}

const rules = problems.flatMap(({ name, actions, lines, onlyBeforeRunning = false }) =>
  lines.map(({ pattern }) => ({ name, actions, onlyBeforeRunning, pattern: new RegExp(pattern, 'i') })),
)

/** Lines come by the thousand: one look tells the few that any rule is about. Groups of one name are not allowed here. */
const anyPattern = new RegExp(
  problems
    .flatMap(({ lines }) => lines.map(({ pattern }) => pattern.replaceAll(/\(\?<\w+>/g, '(?:')))
    .join('|'),
  'i',
)

/**
 * What players write, as Minecraft and Terraria, Source and Rust print it, and their commands: anyone could make the
 * console warn of a full disk.
 */
const chat =
  /^(?:\[[^\]]*\][:\s]*)*<[^<>]{1,40}> | issued server command: |" say(?:_team)? "|^\[(?:team )?chat\] /i

/** Class files of Java 1 have version 45. */
const firstClassFile = 44
const serverFolder = /^\/(?:home\/container|mnt\/server)(?=\/)/

/** Returns the problem of which a line without escape sequences tells; null for most lines. */
export function recogniseProblem(line: string): Problem | null {
  if (!anyPattern.test(line) || chat.test(line)) return null
  for (const { name, actions, onlyBeforeRunning, pattern } of rules) {
    const match = pattern.exec(line)
    if (!match) continue
    const { classFile, java, file } = match.groups ?? {}
    return {
      name,
      actions,
      java: classFile ? Number(classFile) - firstClassFile : java ? Number(java) : null,
      file: file ? withinServer(file) : null,
      onlyBeforeRunning,
    }
  }
  return null
}

/** Returns a path below the root of the server. */
function withinServer(path: string): string {
  return `/${path.replace(serverFolder, '').replace(/^\/?(?:\.\/)*/, '')}`
}

const rankOf = ({ name }: Problem) => problems.findIndex((each) => each.name === name)

/** Returns the problem to show after another one: what follows a specific problem is often its consequence. */
export const moreSpecific = (shown: Problem | null, next: Problem): Problem =>
  shown && rankOf(shown) < rankOf(next) ? shown : next

/** Returns the image with this version of Java, or the next newer one; null when the egg offers none. */
export function imageForJava(
  images: Readonly<Record<string, string>>,
  java: number,
): { java: number; image: string } | null {
  const offered = Object.entries(images).flatMap(([name, image]) => {
    const [, version] = /java[\s_:-]*(\d+)/i.exec(`${name} ${image}`) ?? []
    return version ? [{ java: Number(version), image }] : []
  })
  const fitting = offered.filter((each) => each.java >= java).toSorted((one, other) => one.java - other.java)
  return fitting[0] ?? null
}
