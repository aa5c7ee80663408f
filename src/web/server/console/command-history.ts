const maxCommands = 100

const keyOf = (server: string) => `roost.commands.${server}`

/** Returns the commands that were sent to a server from this tab, newest last. */
export function readCommands(server: string): string[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(keyOf(server)) ?? '[]')
    return Array.isArray(stored) ? stored.map(String) : []
  } catch {
    return []
  }
}

/** Stores a command as the newest one. A repeated command is stored once. */
export function storeCommand(server: string, command: string): void {
  const before = readCommands(server)
  if (before.at(-1) === command) return
  sessionStorage.setItem(keyOf(server), JSON.stringify([...before, command].slice(-maxCommands)))
}
