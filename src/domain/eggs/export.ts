import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Egg, EggLayout } from '../../db/tables/eggs.ts'
import type { Panel } from '../../panel.ts'
import { findEgg } from './eggs.ts'
import { isJsonObject, type JsonObject } from './document.ts'
import { resolveInheritedEgg } from './inheritance.ts'
import { applyLayout } from './layout.ts'
import { eggMembers, variableMembers } from './members.ts'
import type { EggVariableImport } from './parse-variables.ts'
import type { EggColumns } from './parse.ts'

/**
 * An egg document in Pterodactyl's second format, with the further keys of the document that was imported;
 * `files`, `startup` and `logs` are JSON as text.
 */
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
  /** An addition of this panel, present where an administrator set it; other panels ignore it. */
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
    field_type: string
  }[]
}

type EggWithRelations = Egg & { config: Egg | null; script: Egg | null; variables: EggVariable[] }

/**
 * Exports an egg as a `PTDL_v2` document with inherited values. Refuses with 404 an egg of another nest. Spec:
 * getApplicationNestsByNestEggsByEggExport.
 */
export async function exportEggFromNest(panel: Panel, nestId: number, id: number): Promise<EggDocument> {
  const egg = (await findEgg(panel, nestId, id, ['config', 'script', 'variables'])) as EggWithRelations
  return exportEgg(resolveInheritedEgg(egg, egg.config, egg.script), egg.variables, panel.now())
}

/**
 * Creates the `PTDL_v2` document of an egg, which `parseEgg` reads back, with the keys and the order of the
 * document that was imported. A document has no parent: pass the egg of `resolveInheritedEgg`, so that inherited
 * values are included.
 */
export function exportEgg(
  egg: EggColumns & { documentLayout?: EggLayout | null },
  variables: EggVariableImport[],
  now: Date,
): EggDocument {
  const layout = egg.documentLayout ?? { document: {}, variables: [] }
  const members = { ...eggMembers(egg), exported_at: now.toISOString().replace(/\.\d{3}Z$/, '+00:00') }
  const document = applyLayout(members, layout.document) as typeof members & JsonObject
  const { files, startup, logs } = document.config
  return {
    ...document,
    ...(document.startup_commands
      ? { startup_commands: withStartup(document.startup_commands, egg.startup) }
      : {}),
    config: { ...document.config, files: toText(files), startup: toText(startup), logs: toText(logs) },
    variables: exportVariables(variables, layout.variables),
  }
}

/** Writes variables in the order of the layout, new ones last. */
function exportVariables(
  variables: EggVariableImport[],
  layouts: EggLayout['variables'],
): EggDocument['variables'] {
  const names = layouts.map(([name]) => name)
  const position = ({ envVariable }: EggVariableImport) =>
    names.includes(envVariable) ? names.indexOf(envVariable) : names.length
  return variables
    .toSorted((a, b) => position(a) - position(b))
    .map((variable) => {
      const [, layout] = layouts[position(variable)] ?? []
      const members = variableMembers(variable)
      const written = applyLayout(members, layout ?? {}) as typeof members & { field_type?: unknown }
      return {
        ...written,
        field_type: typeof written.field_type === 'string' ? written.field_type : 'text',
      }
    })
}

/** Replaces the first of several startup commands, which is the one that the egg has. */
function withStartup(commands: unknown, startup: string): unknown {
  if (Array.isArray(commands)) return [startup, ...(commands as unknown[]).slice(1)]
  const [first = 'Default'] = isJsonObject(commands) ? Object.keys(commands) : []
  return { ...(isJsonObject(commands) ? commands : {}), [first]: startup }
}

function toText(value: object): string {
  return JSON.stringify(value, null, 4)
}
