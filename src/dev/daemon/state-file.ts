import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PowerState } from './game-server.ts'

export type StateFile = {
  /** The states that the previous process recorded. */
  readonly previous: ReadonlyMap<string, PowerState>
  record: (uuid: string, state: PowerState) => void
  forget: (uuid: string) => void
  /** Stops recording, so that stopping the daemon does not look like stopping the servers. */
  freeze: () => void
}

/** Opens the file with the last known state of every server, `states.json` as in Wings. */
export function openStateFile(dataDirectory: string): StateFile {
  const path = join(dataDirectory, 'states.json')
  const previous = read(path)
  const states = new Map(previous)
  let frozen = false

  function save(): void {
    writeFileSync(`${path}.new`, JSON.stringify(Object.fromEntries(states)))
    renameSync(`${path}.new`, path)
  }

  return {
    previous,
    record: (uuid, state) => {
      if (frozen) return
      states.set(uuid, state)
      save()
    },
    forget: (uuid) => {
      if (states.delete(uuid)) save()
    },
    freeze: () => {
      frozen = true
    },
  }
}

function read(path: string): Map<string, PowerState> {
  try {
    const stored: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const entries = Object.entries(stored as Record<string, unknown>)
    return new Map(entries.filter((entry): entry is [string, PowerState] => isPowerState(entry[1])))
  } catch {
    return new Map()
  }
}

function isPowerState(value: unknown): value is PowerState {
  return value === 'offline' || value === 'starting' || value === 'running' || value === 'stopping'
}
