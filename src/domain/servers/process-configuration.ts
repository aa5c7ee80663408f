import { isJsonObject } from '../eggs/document.ts'
import type { ConfiguredEgg } from './daemon-settings.ts'

type Scalar = string | number | boolean
export type FileReplacement = { match: string; if_value?: string; replace_with: Scalar }
/** A file that the daemon edits before each start; unknown keys of an egg are kept. */
export type ConfigurationFile = {
  parser: string
  file: string
  replace: FileReplacement[]
  [extra: string]: unknown
}
export type ProcessConfiguration = {
  startup: { done: string[]; user_interaction: string[]; strip_ansi: boolean }
  stop: { type: 'command' | 'signal' | 'stop'; value: string }
  configs: ConfigurationFile[]
}

// Old eggs use a path that the daemon's configuration does not have any more.
const oldInterface = '{{config.docker.interface}}'
const newInterface = '{{config.docker.network.interface}}'

/**
 * Builds how the daemon starts, stops and configures a server of an egg; `fill` fills in placeholders. No item is ever
 * null, whatever the egg: a null `file`, `parser` or `replace` crashes the daemon. Wings: GET /servers/{uuid}.
 */
export function processConfiguration(
  egg: ConfiguredEgg,
  fill: (template: string) => string,
): ProcessConfiguration {
  const { configFiles, configStartup, configStop } = egg
  return {
    startup: {
      done: [configStartup?.done ?? []].flat().filter((item) => typeof item === 'string'),
      user_interaction: [],
      strip_ansi: configStartup?.strip_ansi === true,
    },
    stop: stopConfiguration(configStop),
    configs: configurationFiles(configFiles, fill),
  }
}

/**
 * Converts the stop value; `^C` in its three spellings becomes SIGINT, as stock Wings kills on a value that it
 * does not know.
 */
function stopConfiguration(stop: string | null): ProcessConfiguration['stop'] {
  if (!stop) return { type: 'stop', value: '' }
  if (!stop.startsWith('^')) return { type: 'command', value: stop }
  const signal = stop.slice(1).toUpperCase()
  return { type: 'signal', value: signal === 'C' || signal === '^C' ? 'SIGINT' : signal }
}

function configurationFiles(configFiles: unknown, fill: (template: string) => string): ConfigurationFile[] {
  const filled = (replacement: FileReplacement) => {
    const { replace_with: template } = replacement
    if (typeof template !== 'string' || !template.includes('{{')) return replacement
    return { ...replacement, replace_with: fill(template) }
  }
  return fileTemplatesOf(configFiles).map((file) => ({ ...file, replace: file.replace.map(filled) }))
}

/** Files with placeholders, by what the egg says of them, which the servers of a page share. */
const fileTemplates = new WeakMap<object, ConfigurationFile[]>()

function fileTemplatesOf(configFiles: unknown): ConfigurationFile[] {
  if (typeof configFiles !== 'object' || configFiles === null) return []
  const known = fileTemplates.get(configFiles)
  if (known) return known
  const files = Object.entries(configFiles).flatMap(([file, data]: [string, unknown]) => {
    if (!isJsonObject(data) || !isJsonObject(data.find) || typeof data.parser !== 'string') return []
    const extras = Object.entries(data).filter(([key, value]) => key !== 'find' && value !== null)
    const replace = Object.entries(data.find).flatMap(([match, value]) => replacements(match, value))
    return [{ ...Object.fromEntries(extras), parser: data.parser, file, replace }]
  })
  fileTemplates.set(configFiles, files)
  return files
}

function replacements(match: string, value: unknown): FileReplacement[] {
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([ifValue, inner]) => {
      const scalar = scalarTemplate(inner)
      return scalar === undefined ? [] : [{ match, if_value: ifValue, replace_with: scalar }]
    })
  }
  const scalar = scalarTemplate(value)
  return scalar === undefined ? [] : [{ match, replace_with: scalar }]
}

/** Returns undefined for lists and objects, which the daemon cannot write. */
function scalarTemplate(value: unknown): Scalar | undefined {
  if (value === null) return ''
  if (typeof value === 'string') return value.replaceAll(oldInterface, newInterface)
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}
