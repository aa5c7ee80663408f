import type { JsonObject } from './document.ts'
import type { EggVariableImport } from './parse-variables.ts'
import type { EggColumns } from './parse.ts'

/** Returns the members of a `PTDL_v2` document that are stored in columns; configuration as objects, no variables. */
export const eggMembers = (egg: EggColumns) =>
  ({
    _comment: 'Exported by Roost',
    meta: { version: 'PTDL_v2' as const, update_url: egg.updateUrl },
    exported_at: '',
    name: egg.name,
    author: egg.author,
    description: egg.description,
    features: egg.features,
    docker_images: egg.dockerImages,
    file_denylist: egg.fileDenylist,
    ...(egg.queryGame ? { query_game: egg.queryGame } : {}),
    startup: egg.startup,
    config: {
      files: egg.configFiles ?? {},
      startup: egg.configStartup ?? {},
      logs: egg.configLogs ?? {},
      stop: egg.configStop,
    },
    scripts: {
      installation: {
        script: egg.scriptInstall,
        container: egg.scriptContainer,
        entrypoint: egg.scriptEntry,
      },
    },
    variables: [],
  }) satisfies JsonObject

/** Returns the members of a variable that are stored in columns. */
export const variableMembers = (variable: EggVariableImport) =>
  ({
    name: variable.name,
    description: variable.description,
    env_variable: variable.envVariable,
    default_value: variable.defaultValue,
    user_viewable: variable.userViewable,
    user_editable: variable.userEditable,
    rules: variable.rules,
  }) satisfies JsonObject
