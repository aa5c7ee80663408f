import type { Egg, EggConfigFile, EggConfigStartup } from '../../db/tables/eggs.ts'
import { isJsonObject, readObject, readText, type JsonObject, type ParseContext } from './document.ts'
import { eggIssue } from './format-error.ts'

export type EggConfig = Pick<Egg, 'configFiles' | 'configStartup' | 'configLogs' | 'configStop'>

/** The parsers of configuration files that daemons support. */
export const configParsers = ['file', 'yaml', 'yml', 'properties', 'ini', 'json', 'xml']

/**
 * Parses the `config` member of an egg document. `files`, `startup` and `logs` may be objects or JSON as text;
 * absent ones are null. Files that daemons cannot process are left out with a warning.
 */
export function parseConfig(document: JsonObject, context: ParseContext): EggConfig {
  const config = readObject(document, 'config', 'config', context)
  const files = readJson(config, 'files', context)
  const startup = readJson(config, 'startup', context)
  const stop = readText(config, 'stop', 'config.stop', context)
  return {
    configFiles: files && parseFiles(files, context),
    configStartup: startup && parseStartup(startup, context),
    configLogs: readJson(config, 'logs', context),
    configStop: stop === '' ? null : stop,
  }
}

function readJson(config: JsonObject, key: string, context: ParseContext): JsonObject | null {
  const field = `config.${key}`
  const value = config[key] ?? null
  if (typeof value !== 'string') return value === null ? null : readObject(config, key, field, context)
  if (value.trim() === '') return null
  try {
    const parsed: unknown = JSON.parse(value)
    return parsed === null ? null : readObject({ [key]: parsed }, key, field, context)
  } catch {
    context.issues.push(eggIssue(field, 'egg_not_json'))
    return null
  }
}

function parseFiles(files: JsonObject, context: ParseContext): Record<string, EggConfigFile> {
  const usable = Object.entries(files).flatMap(([name, data]): [string, EggConfigFile][] => {
    const file = parseFile(data)
    if (typeof file !== 'string') return [[name, file]]
    context.warnings.push(`config.files: ${name} is left out, ${file}`)
    return []
  })
  return Object.fromEntries(usable)
}

/** Returns the file, or the reason why it is left out. */
function parseFile(data: unknown): EggConfigFile | string {
  if (!isJsonObject(data)) return 'it is not an object'
  const find = Array.isArray(data.find) && data.find.length === 0 ? {} : data.find
  if (!isJsonObject(find)) return 'find is missing'
  if (typeof data.parser !== 'string' || !configParsers.includes(data.parser)) return 'its parser is unknown'
  return { ...data, parser: data.parser, find }
}

/** Keeps keys that daemons do not read, for the export. */
function parseStartup(startup: JsonObject, context: ParseContext): EggConfigStartup {
  const { done = null, strip_ansi: stripAnsi } = startup
  const isDone =
    typeof done === 'string' || (Array.isArray(done) && done.every((item) => typeof item === 'string'))
  if (done !== null && !isDone) {
    context.issues.push(eggIssue('config.startup.done', 'egg_not_text_or_texts'))
  }
  if (done === null)
    context.warnings.push('config.startup: done is missing, so that servers never count as running')
  const usable = Object.entries(startup).filter(
    ([key]) => (key !== 'done' || isDone) && (key !== 'strip_ansi' || typeof stripAnsi === 'boolean'),
  )
  return Object.fromEntries(usable)
}
