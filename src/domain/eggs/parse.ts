import type { Egg } from '../../db/tables/eggs.ts'
import { isDockerImage } from './docker-image.ts'
import {
  documentFaults,
  isJsonObject,
  readObject,
  readRequiredText,
  readText,
  readTextList,
  type JsonObject,
  type Reading,
} from './document.ts'
import { EggFormatError } from './format-error.ts'
import { queryGamePattern } from './input.ts'
import { parseConfig, type EggConfig } from './parse-config.ts'
import {
  parseVariables,
  renameInStartup,
  type EggDialect,
  type EggVariableImport,
} from './parse-variables.ts'

export type EggColumns = EggConfig &
  Pick<
    Egg,
    | 'name'
    | 'author'
    | 'description'
    | 'features'
    | 'dockerImages'
    | 'fileDenylist'
    | 'updateUrl'
    | 'startup'
    | 'scriptContainer'
    | 'scriptEntry'
    | 'scriptInstall'
  > & {
    /** Left out where a document does not speak of it: most do not. */
    queryGame?: string | null
  }
/** An egg document as columns to insert; `warnings` says what was changed or will not work. */
export type EggImport = { uuid?: string; egg: EggColumns; variables: EggVariableImport[]; warnings: string[] }

const dialects = new Map<unknown, EggDialect>([
  ['PTDL_v1', 'pterodactyl'],
  ['PTDL_v2', 'pterodactyl'],
  ['PLCN_v1', 'pelican'],
  ['PLCN_v2', 'pelican'],
  ['PLCN_v3', 'pelican'],
])
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Turns an egg document (`PTDL_v1`, `PTDL_v2`, `PLCN_v1` to `PLCN_v3`, parsed from JSON or YAML) into rows.
 * Placeholders stay as written. Throws `EggFormatError` with every fault found.
 */
export function parseEgg(json: unknown): EggImport {
  const document = isJsonObject(json) ? json : {}
  const meta = isJsonObject(document.meta) ? document.meta : {}
  const dialect = dialects.get(meta.version)
  if (!dialect) throw new EggFormatError([{ field: 'meta.version', problem: 'is no known egg format' }])
  const reading: Reading = { issues: documentFaults(json), warnings: [] }
  if (reading.issues.length > 0) throw new EggFormatError(reading.issues)

  const { variables, renames } = parseVariables(document, dialect, reading)
  const egg: EggColumns = {
    name: readRequiredText(document, 'name', 191, reading),
    author: readRequiredText(document, 'author', 191, reading),
    description: readText(document, 'description', 'description', reading),
    features: readTextList(document, 'features', 'features', reading),
    dockerImages: parseImages(document, reading),
    fileDenylist: readTextList(document, 'file_denylist', 'file_denylist', reading) ?? [],
    updateUrl: readText(meta, 'update_url', 'meta.update_url', reading) || null,
    ...parseConfig(document, reading),
    startup: renameInStartup(parseStartupCommand(document, reading), renames),
    ...parseScript(document, reading),
    ...parseQueryGame(document, reading),
  }
  if (reading.issues.length > 0) throw new EggFormatError(reading.issues)
  const uuid = dialect === 'pelican' && typeof document.uuid === 'string' ? document.uuid : ''
  return {
    ...(uuidPattern.test(uuid) ? { uuid: uuid.toLowerCase() } : {}),
    egg,
    variables,
    warnings: reading.warnings,
  }
}

/** Label → image in order; lists and the single `image` of old documents use the image as its own label. */
function parseImages(document: JsonObject, reading: Reading): Record<string, string> {
  const written = document.docker_images ?? document.images ?? document.image ?? {}
  const list = typeof written === 'string' ? [written] : written
  const pairs = Array.isArray(list)
    ? list.map((image): [string, unknown] => [String(image), image])
    : isJsonObject(list)
      ? Object.entries(list)
      : []
  if (pairs.length === 0) reading.issues.push({ field: 'docker_images', problem: 'names no image' })
  return Object.fromEntries(
    pairs.flatMap(([label, image]): [string, string][] => {
      if (typeof image === 'string' && isDockerImage(image)) return [[label, image]]
      reading.issues.push({
        field: `docker_images.${label}`,
        problem: 'is no image name of at most 191 characters',
      })
      return []
    }),
  )
}

function parseStartupCommand(document: JsonObject, reading: Reading): string {
  if ((document.startup_commands ?? null) === null)
    return readRequiredText(document, 'startup', Infinity, reading)
  const texts = readTextList(document, 'startup_commands', 'startup_commands', reading) ?? []
  if (texts.length > 1) reading.warnings.push('startup_commands: only the first command is kept')
  if (texts.length === 0) reading.issues.push({ field: 'startup_commands', problem: 'names no command' })
  return texts[0] ?? ''
}

/** A key of our own in these formats. */
function parseQueryGame(document: JsonObject, reading: Reading): Pick<EggColumns, 'queryGame'> {
  const queryGame = document.query_game ?? null
  if (queryGame === null) return {}
  if (typeof queryGame === 'string' && queryGamePattern.test(queryGame)) return { queryGame }
  reading.warnings.push('query_game: is no name of a game and is left out')
  return {}
}

function parseScript(
  document: JsonObject,
  reading: Reading,
): Pick<Egg, 'scriptContainer' | 'scriptEntry' | 'scriptInstall'> {
  const field = 'scripts.installation'
  const script = readObject(
    readObject(document, 'scripts', 'scripts', reading),
    'installation',
    field,
    reading,
  )
  const container = readText(script, 'container', `${field}.container`, reading) || 'alpine:3.4'
  if (!isDockerImage(container)) {
    reading.issues.push({
      field: `${field}.container`,
      problem: 'is no image name of at most 191 characters',
    })
  }
  return {
    scriptContainer: container,
    scriptEntry: readText(script, 'entrypoint', `${field}.entrypoint`, reading) || 'ash',
    scriptInstall: readText(script, 'script', `${field}.script`, reading),
  }
}
