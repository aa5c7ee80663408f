import { asc, eq, sql } from 'drizzle-orm'
import { servers } from '../../db/schema.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Panel } from '../../panel.ts'
import { eggChecksum } from './checksum.ts'
import { listEggVariables } from './eggs.ts'
import { refuseEggFaults } from './format-error.ts'
import { columnsToWrite, hasSameOrigin } from './import.ts'
import { findEggToReplace, type EggMatch } from './import-target.ts'
import { variableMembers } from './members.ts'
import { findNest } from './nests.ts'
import { type EggImport, parseEgg } from './parse.ts'

/** A field whose value an import would change. */
export type FieldDifference = { field: string; before: unknown; after: unknown }
export type VariableDifference = {
  envVariable: string
  state: 'added' | 'changed' | 'removed'
  fields: FieldDifference[]
}
export type AffectedServer = Pick<Server, 'id' | 'uuid' | 'name'>

/** What an import would change; `egg` is the egg that it would replace. */
export type EggDifference = {
  name: string
  state: 'new' | 'updated' | 'unchanged'
  egg: { id: number; name: string; matchedBy: EggMatch; checksum: string; isOther: boolean } | null
  fields: FieldDifference[]
  variables: VariableDifference[]
  servers: { total: number; first: AffectedServer[] }
  warnings: string[]
}

/** Servers that a difference names; the list of servers has the others. */
const maxNamedServers = 25

/** The fields of an egg that an import writes, by their names in the API. */
const fieldColumns = {
  name: 'name',
  author: 'author',
  description: 'description',
  startup: 'startup',
  docker_images: 'dockerImages',
  features: 'features',
  file_denylist: 'fileDenylist',
  update_url: 'updateUrl',
  config_files: 'configFiles',
  config_startup: 'configStartup',
  config_logs: 'configLogs',
  config_stop: 'configStop',
  script_container: 'scriptContainer',
  script_entry: 'scriptEntry',
  script_install: 'scriptInstall',
  query_game: 'queryGame',
} as const satisfies Record<string, keyof EggImport['egg']>

/**
 * Compares the egg of a document with the egg that an import into the nest would replace: `eggId`, or else the one with
 * its uuid, its name or, where only one has it, its update URL. Changes nothing. Refuses with 404 when the nest or the
 * egg does not exist, with 422 with every fault of the document. Spec: docs/eggs.md#preview.
 */
export async function previewEggImport(
  panel: Panel,
  nestId: number,
  document: unknown,
  eggId?: number,
): Promise<EggDifference> {
  await findNest(panel, nestId)
  const parsed = await refuseEggFaults(() => parseEgg(document))
  const target = await findEggToReplace(panel, nestId, parsed, eggId)
  const { name } = parsed.egg
  if (!target) return newEgg(name, parsed)
  const { egg: before, matchedBy } = target
  const variablesBefore = await listEggVariables(panel, before)
  const fields = compareFields(before, { ...before, ...columnsToWrite(before, parsed) })
  const variables = compareVariables(variablesBefore, parsed.variables)
  return {
    name,
    state: fields.length + variables.length === 0 ? 'unchanged' : 'updated',
    egg: {
      id: before.id,
      name: before.name,
      matchedBy,
      checksum: eggChecksum(before, variablesBefore),
      isOther: !hasSameOrigin(before, parsed.egg),
    },
    fields,
    variables,
    servers: await findServersOf(panel, before),
    warnings: parsed.warnings,
  }
}

const newEgg = (name: string, { warnings }: EggImport): EggDifference => ({
  name,
  state: 'new',
  egg: null,
  fields: [],
  variables: [],
  servers: { total: 0, first: [] },
  warnings,
})

const isSame = (before: unknown, after: unknown) => JSON.stringify(before) === JSON.stringify(after)

const compareFields = (before: Egg, after: Egg): FieldDifference[] =>
  Object.entries(fieldColumns)
    .filter(([, column]) => !isSame(before[column], after[column]))
    .map(([field, column]) => ({ field, before: before[column], after: after[column] }))

type Variables = EggImport['variables']

function compareVariables(before: Variables, after: Variables): VariableDifference[] {
  const old = new Map(before.map((variable) => [variable.envVariable, variableMembers(variable)]))
  const names = new Set([...before, ...after].map(({ envVariable }) => envVariable))
  const next = new Map(after.map((variable) => [variable.envVariable, variableMembers(variable)]))
  return [...names].flatMap((envVariable): VariableDifference[] => {
    const [was, becomes] = [old.get(envVariable), next.get(envVariable)]
    const keys = Object.keys(was ?? becomes ?? {}) as (keyof NonNullable<typeof was>)[]
    const fields = keys
      .filter((field) => field !== 'env_variable' && was?.[field] !== becomes?.[field])
      .map((field) => ({ field, before: was?.[field] ?? null, after: becomes?.[field] ?? null }))
    if (was && becomes && fields.length === 0) return []
    return [{ envVariable, state: was ? (becomes ? 'changed' : 'removed') : 'added', fields }]
  })
}

async function findServersOf(panel: Panel, egg: Egg): Promise<EggDifference['servers']> {
  const rows = await panel.db
    .select({
      id: servers.id,
      uuid: servers.uuid,
      name: servers.name,
      total: sql<number>`count(*) over ()`.mapWith(Number),
    })
    .from(servers)
    .where(eq(servers.eggId, egg.id))
    .orderBy(asc(servers.id))
    .limit(maxNamedServers)
  return { total: rows[0]?.total ?? 0, first: rows.map(({ id, uuid, name }) => ({ id, uuid, name })) }
}
