import type { EggKeys, EggLayout } from '../../db/tables/eggs.ts'
import { isJsonObject, type JsonObject } from './document.ts'
import { eggMembers, variableMembers } from './members.ts'
import { type EggVariableImport, renameInStartup } from './parse-variables.ts'
import type { EggColumns } from './parse.ts'

/** Reads the keys of `source` in order, with the values of those that `stored` lacks. */
export function readLayout(source: JsonObject, stored: JsonObject): EggKeys {
  const entries = Object.entries(source).map(([key, value]): [string, EggKeys[string]] => {
    if (!Object.hasOwn(stored, key)) return [key, { value }]
    const inner = stored[key]
    return [key, isJsonObject(value) && isJsonObject(inner) ? { keys: readLayout(value, inner) } : null]
  })
  return Object.fromEntries(entries)
}

/** Orders `stored` as the layout says, adds the values of the layout, and appends the other keys. */
export function applyLayout(stored: JsonObject, layout: EggKeys): JsonObject {
  const ordered = Object.entries(layout).flatMap(([key, entry]): [string, unknown][] => {
    if (!Object.hasOwn(stored, key)) return entry && 'value' in entry ? [[key, entry.value]] : []
    const inner = stored[key]
    return [[key, entry && 'keys' in entry && isJsonObject(inner) ? applyLayout(inner, entry.keys) : inner]]
  })
  const others = Object.entries(stored).filter(([key]) => !Object.hasOwn(layout, key))
  return Object.fromEntries([...ordered, ...others])
}

/**
 * Reads the layout of a document that was parsed into these columns. Synonyms of older formats (`images`, `image`)
 * were read as another key, which an export writes in their place.
 */
export function readEggLayout(
  source: JsonObject,
  parsed: { egg: EggColumns; variables: EggVariableImport[]; renames: Map<string, string> },
): EggLayout {
  const { egg, variables, renames } = parsed
  const imagesKey = ['docker_images', 'images', 'image'].find((key) => (source[key] ?? null) !== null)
  const members = Object.entries(source).flatMap(([key, value]): [string, unknown][] => {
    if (key === imagesKey) return [['docker_images', value]]
    if (key === 'startup_commands') return value === null ? [] : [[key, renameInCommands(value, renames)]]
    return [[key, key === 'config' ? withConfigObjects(value) : value]]
  })
  const items = (Array.isArray(source.variables) ? (source.variables as unknown[]) : []).filter(isJsonObject)
  const itemsByName = new Map(
    items.map((item) => [renames.get(String(item.env_variable)) ?? String(item.env_variable), item]),
  )
  return {
    document: readLayout(Object.fromEntries(members), eggMembers(egg)),
    variables: variables.map((variable) => [
      variable.envVariable,
      readLayout(itemsByName.get(variable.envVariable) ?? {}, variableMembers(variable)),
    ]),
  }
}

/** Parses the members of `config` that may be JSON as text; invalid text was refused before. */
function withConfigObjects(config: unknown): unknown {
  if (!isJsonObject(config)) return config
  const entries = Object.entries(config).map(([key, value]) =>
    typeof value === 'string' && jsonMembers.includes(key) && value.trim() !== ''
      ? [key, JSON.parse(value)]
      : [key, value],
  )
  return Object.fromEntries(entries) as JsonObject
}

const jsonMembers = ['files', 'startup', 'logs']

/** Renames variables in all startup commands, in a list or by name; empty ones are left out. */
function renameInCommands(commands: unknown, renames: Map<string, string>): unknown {
  const entries = Object.entries(isJsonObject(commands) ? commands : [commands].flat())
    .filter(([, command]) => command !== '')
    .map(([name, command]) => [name, renameInStartup(String(command), renames)] as const)
  return isJsonObject(commands) ? Object.fromEntries(entries) : entries.map(([, command]) => command)
}
