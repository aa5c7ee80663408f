import type { Egg, EggLayout } from '../../db/tables/eggs.ts'
import { isDockerImage } from './docker-image.ts'
import {
  findDocumentIssues,
  isJsonObject,
  readObject,
  readRequiredText,
  readText,
  readTextList,
  type JsonObject,
  type ParseContext,
} from './document.ts'
import { EggFormatError, eggIssue } from './format-error.ts'
import { defaultInstaller, queryGamePattern } from './input.ts'
import { readEggLayout } from './layout.ts'
import { parseConfig, type EggConfig } from './parse-config.ts'
import {
  parseVariables,
  renameInStartup,
  type EggDialect,
  type EggVariableImport,
} from './parse-variables.ts'
import { isUuid } from './rule-formats.ts'

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
    /** Undefined when the document does not have it, as most. */
    queryGame?: string | null
  }
/**
 * An egg document as columns to insert, and the layout of the document for its export; `warnings` say what was
 * changed or will not work.
 */
export type EggImport = {
  uuid?: string
  egg: EggColumns
  variables: EggVariableImport[]
  layout: EggLayout
  warnings: string[]
}

const dialects = new Map<unknown, EggDialect>([
  ['PTDL_v1', 'pterodactyl'],
  ['PTDL_v2', 'pterodactyl'],
  ['PLCN_v1', 'pelican'],
  ['PLCN_v2', 'pelican'],
  ['PLCN_v3', 'pelican'],
])

/**
 * Parses an egg document (`PTDL_v1`, `PTDL_v2`, `PLCN_v1` to `PLCN_v3`, from JSON or YAML) into rows.
 * Placeholders stay as they are. Throws an `EggFormatError` with every fault found. Spec:
 * docs/eggs.md#import-and-export.
 */
export async function parseEgg(json: unknown): Promise<EggImport> {
  const document = isJsonObject(json) ? json : {}
  const meta = isJsonObject(document.meta) ? document.meta : {}
  const dialect = dialects.get(meta.version)
  if (!dialect) throw new EggFormatError([eggIssue('meta.version', 'egg_format_unsupported')])
  const context: ParseContext = { issues: findDocumentIssues(json), warnings: [] }
  if (context.issues.length > 0) throw new EggFormatError(context.issues)

  const { variables, renames } = await parseVariables(document, dialect, context)
  const egg: EggColumns = {
    name: readRequiredText(document, 'name', 191, context),
    author: readRequiredText(document, 'author', 191, context),
    description: readText(document, 'description', 'description', context),
    features: readTextList(document, 'features', 'features', context),
    dockerImages: parseImages(document, context),
    fileDenylist: readTextList(document, 'file_denylist', 'file_denylist', context) ?? [],
    updateUrl: readText(meta, 'update_url', 'meta.update_url', context) || null,
    ...parseConfig(document, context),
    startup: renameInStartup(parseStartupCommand(document, context), renames),
    ...parseScript(document, context),
    ...parseQueryGame(document, context),
  }
  if (context.issues.length > 0) throw new EggFormatError(context.issues)
  const uuid = dialect === 'pelican' && typeof document.uuid === 'string' ? document.uuid : ''
  return {
    ...(isUuid(uuid) ? { uuid: uuid.toLowerCase() } : {}),
    egg,
    variables,
    layout: readEggLayout(document, { egg, variables, renames }),
    warnings: context.warnings,
  }
}

/**
 * Returns images by label, in order; in lists and the single `image` of old documents the image is its own label.
 */
function parseImages(document: JsonObject, context: ParseContext): Record<string, string> {
  const written = document.docker_images ?? document.images ?? document.image ?? {}
  const list = typeof written === 'string' ? [written] : written
  const pairs = Array.isArray(list)
    ? list.map((image): [string, unknown] => [String(image), image])
    : isJsonObject(list)
      ? Object.entries(list)
      : []
  if (pairs.length === 0) context.issues.push(eggIssue('docker_images', 'egg_image_required'))
  return Object.fromEntries(
    pairs.flatMap(([label, image]): [string, string][] => {
      if (typeof image === 'string' && isDockerImage(image)) return [[label, image]]
      context.issues.push(eggIssue(`docker_images.${label}`, 'egg_image_invalid'))
      return []
    }),
  )
}

function parseStartupCommand(document: JsonObject, context: ParseContext): string {
  if ((document.startup_commands ?? null) === null)
    return readRequiredText(document, 'startup', Infinity, context)
  const texts = readTextList(document, 'startup_commands', 'startup_commands', context) ?? []
  if (texts.length > 1) context.warnings.push('startup_commands: only the first command is used')
  if (texts.length === 0) context.issues.push(eggIssue('startup_commands', 'egg_command_required'))
  return texts[0] ?? ''
}

/** Parses an addition of this panel to the formats. */
function parseQueryGame(document: JsonObject, context: ParseContext): Pick<EggColumns, 'queryGame'> {
  const queryGame = document.query_game ?? null
  if (queryGame === null) return {}
  if (typeof queryGame === 'string' && queryGamePattern.test(queryGame)) return { queryGame }
  context.warnings.push('query_game: is not the name of a game and is left out')
  return {}
}

function parseScript(
  document: JsonObject,
  context: ParseContext,
): Pick<Egg, 'scriptContainer' | 'scriptEntry' | 'scriptInstall'> {
  const field = 'scripts.installation'
  const script = readObject(
    readObject(document, 'scripts', 'scripts', context),
    'installation',
    field,
    context,
  )
  const container = readText(script, 'container', `${field}.container`, context) || defaultInstaller.container
  if (!isDockerImage(container)) {
    context.issues.push(eggIssue(`${field}.container`, 'egg_image_invalid'))
  }
  return {
    scriptContainer: container,
    scriptEntry:
      readText(script, 'entrypoint', `${field}.entrypoint`, context) || defaultInstaller.entrypoint,
    scriptInstall: readText(script, 'script', `${field}.script`, context),
  }
}
