import ignore from 'ignore'
import { FileError } from './file-errors.ts'
import type { GameServer } from './game-server.ts'
import { cleanPath } from './server-paths.ts'

/** Creates a test for paths on the denylist of the server's egg, which is read as a .gitignore. */
export function createFileDenylist(server: GameServer): (path: string) => boolean {
  const rules = ignore({ ignorecase: false }).add(server.configuration.fileDenylist)
  return (path) => {
    const below = cleanPath(path).slice(1)
    return below !== '' && rules.ignores(below)
  }
}

/** Refuses with 403 when one of the paths is on the denylist. */
export function refuseDenied(server: GameServer, ...paths: string[]): void {
  if (!paths.some(createFileDenylist(server))) return
  throw new FileError(403, 'The egg of this server does not allow changes to this file.')
}
