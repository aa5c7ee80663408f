const mostCommands = 100

const keyOf = (server: string) => `roost.commands.${server}`

/** The commands that were sent to a server from this tab, the newest last. */
export function readCommands(server: string): string[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(keyOf(server)) ?? '[]')
    return Array.isArray(stored) ? stored.map(String) : []
  } catch {
    return []
  }
}

/** The command is the newest one; the same one twice in a row counts once. */
export function keepCommand(server: string, command: string): void {
  const before = readCommands(server)
  if (before.at(-1) === command) return
  sessionStorage.setItem(keyOf(server), JSON.stringify([...before, command].slice(-mostCommands)))
}
