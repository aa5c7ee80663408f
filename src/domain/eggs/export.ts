import type { EggColumns } from './parse.ts'
import type { EggVariableImport } from './parse-variables.ts'

/** An egg document in Pterodactyl's second format; `files`, `startup` and `logs` hold JSON as text. */
export type EggDocument = {
  _comment: string
  meta: { version: 'PTDL_v2'; update_url: string | null }
  exported_at: string
  name: string
  author: string
  description: string | null
  features: string[] | null
  docker_images: Record<string, string>
  file_denylist: string[]
  /** A key of our own, where an administrator set it; other readers pass over it. */
  query_game?: string
  startup: string
  config: { files: string; startup: string; logs: string; stop: string | null }
  scripts: { installation: { script: string | null; container: string; entrypoint: string } }
  variables: {
    name: string
    description: string
    env_variable: string
    default_value: string
    user_viewable: boolean
    user_editable: boolean
    rules: string
    field_type: 'text'
  }[]
}

/**
 * The `PTDL_v2` document of an egg, which `parseEgg` reads back. A document knows no parent: pass the
 * effective egg so that inherited values are written out.
 */
export function exportEgg(egg: EggColumns, variables: EggVariableImport[], now: Date): EggDocument {
  return {
    _comment: 'Exported by Roost',
    meta: { version: 'PTDL_v2', update_url: egg.updateUrl },
    exported_at: now.toISOString().replace(/\.\d{3}Z$/, '+00:00'),
    name: egg.name,
    author: egg.author,
    description: egg.description,
    features: egg.features,
    docker_images: egg.dockerImages,
    file_denylist: egg.fileDenylist,
    ...(egg.queryGame ? { query_game: egg.queryGame } : {}),
    startup: egg.startup,
    config: {
      files: jsonText(egg.configFiles),
      startup: jsonText(egg.configStartup),
      logs: jsonText(egg.configLogs),
      stop: egg.configStop,
    },
    scripts: {
      installation: {
        script: egg.scriptInstall,
        container: egg.scriptContainer,
        entrypoint: egg.scriptEntry,
      },
    },
    variables: variables.map((variable) => ({
      name: variable.name,
      description: variable.description,
      env_variable: variable.envVariable,
      default_value: variable.defaultValue,
      user_viewable: variable.userViewable,
      user_editable: variable.userEditable,
      rules: variable.rules,
      field_type: 'text',
    })),
  }
}

function jsonText(value: object | null): string {
  return JSON.stringify(value ?? {}, null, 4)
}
