import type { Egg, EggConfigFile, EggConfigStartup } from '../../db/tables/eggs.ts'
import { isJsonObject, readObject, readText, type JsonObject, type Reading } from './document.ts'

export type EggConfig = Pick<Egg, 'configFiles' | 'configStartup' | 'configLogs' | 'configStop'>

/** Parsers of configuration files that daemons have. */
export const configParsers = ['file', 'yaml', 'yml', 'properties', 'ini', 'json', 'xml']

/**
 * Reads the `config` member of an egg document. `files`, `startup` and `logs` may be objects or objects
 * written as JSON text; absent ones are null. Files the daemon could not handle are left out with a warning.
 */
export function parseConfig(document: JsonObject, reading: Reading): EggConfig {
  const config = readObject(document, 'config', 'config', reading)
  const files = readJson(config, 'files', reading)
  const startup = readJson(config, 'startup', reading)
  const stop = readText(config, 'stop', 'config.stop', reading)
  return {
    configFiles: files && parseFiles(files, reading),
    configStartup: startup && parseStartup(startup, reading),
    configLogs: readJson(config, 'logs', reading),
    configStop: stop === '' ? null : stop,
  }
}

function readJson(config: JsonObject, key: string, reading: Reading): JsonObject | null {
  const field = `config.${key}`
  const value = config[key] ?? null
  if (typeof value !== 'string') return value === null ? null : readObject(config, key, field, reading)
  if (value.trim() === '') return null
  try {
    const parsed: unknown = JSON.parse(value)
    return parsed === null ? null : readObject({ [key]: parsed }, key, field, reading)
  } catch {
    reading.issues.push({ field, problem: 'is not valid JSON' })
    return null
  }
}

function parseFiles(files: JsonObject, reading: Reading): Record<string, EggConfigFile> {
  const usable = Object.entries(files).flatMap(([name, data]): [string, EggConfigFile][] => {
    const file = parseFile(data)
    if (typeof file !== 'string') return [[name, file]]
    reading.warnings.push(`config.files: ${name} is left out, ${file}`)
    return []
  })
  return Object.fromEntries(usable)
}

/** The file, or the reason for leaving it out. */
function parseFile(data: unknown): EggConfigFile | string {
  if (!isJsonObject(data)) return 'it is not an object'
  const find = Array.isArray(data.find) && data.find.length === 0 ? {} : data.find
  if (!isJsonObject(find)) return 'it has no find'
  if (typeof data.parser !== 'string' || !configParsers.includes(data.parser)) return 'its parser is unknown'
  return { ...data, parser: data.parser, find }
}

function parseStartup(startup: JsonObject, reading: Reading): EggConfigStartup {
  const { done = null, strip_ansi: stripAnsi } = startup
  const isDone =
    typeof done === 'string' || (Array.isArray(done) && done.every((item) => typeof item === 'string'))
  if (done !== null && !isDone) {
    reading.issues.push({ field: 'config.startup.done', problem: 'must be text or a list of texts' })
  }
  if (done === null) reading.warnings.push('config.startup: without done no server ever counts as running')
  return {
    ...(isDone ? { done } : {}),
    ...(typeof stripAnsi === 'boolean' ? { strip_ansi: stripAnsi } : {}),
  }
}
