import { eq } from 'drizzle-orm'
import { eggMount, eggs, eggVariables, mountNode, mountServer, nests } from '../../db/schema.ts'
import { findFirst, hasParent, type Move, type MovedRow, type Step } from './move.ts'
import type { SourceRow } from './spool.ts'
import { isTrue, isUuid, jsonOf, listOf, numberOrNull, textOf, textOrNull, timesOf } from './values.ts'

const mapNest = (row: SourceRow): MovedRow => ({
  values: {
    id: Number(row.id),
    uuid: textOf(row, 'uuid').toLowerCase(),
    author: textOf(row, 'author'),
    name: textOf(row, 'name'),
    description: textOrNull(row, 'description'),
    ...timesOf(row),
  },
})

function mapEgg(row: SourceRow, move: Move): MovedRow | null {
  const placed = move.kind === 'pelican' ? { ...row, nest_id: 1 } : row
  if (!hasParent(move, 'eggs', placed, 'nest_id', 'nests')) return null
  const [id, uuid] = [Number(row.id), textOf(row, 'uuid').toLowerCase()]
  if (!isUuid(uuid)) {
    move.report.refuse('eggs', id, 'the uuid is not one')
    return null
  }
  return {
    values: {
      id,
      uuid,
      nestId: Number(placed.nest_id),
      author: textOf(row, 'author'),
      name: textOf(row, 'name'),
      description: textOrNull(row, 'description'),
      features: jsonOf(row, 'features'),
      dockerImages: imagesOf(row),
      fileDenylist: listOf(row, 'file_denylist'),
      updateUrl: textOrNull(row, 'update_url'),
      ...configurationOf(row),
      startup: startupOf(row, move),
      scriptContainer: textOf(row, 'script_container'),
      scriptEntry: textOf(row, 'script_entry'),
      scriptIsPrivileged: isTrue(row, 'script_is_privileged'),
      scriptInstall: row.script_install ?? null,
      forceOutgoingIp: isTrue(row, 'force_outgoing_ip'),
      ...timesOf(row),
    },
  }
}

const configurationOf = (row: SourceRow) => ({
  configFiles: objectOf(row, 'config_files'),
  configStartup: objectOf(row, 'config_startup'),
  configLogs: objectOf(row, 'config_logs'),
  configStop: textOrNull(row, 'config_stop'),
})

/** PHP writes an empty object as an empty list. */
function objectOf(row: SourceRow, column: string): unknown {
  const value = jsonOf(row, column)
  return Array.isArray(value) ? {} : value
}

/** Images by label; of the oldest eggs a list, whose images are their own labels. */
function imagesOf(row: SourceRow): Record<string, string> {
  const value = jsonOf(row, 'docker_images')
  if (Array.isArray(value)) return Object.fromEntries(value.map((image) => [String(image), String(image)]))
  return (value ?? {}) as Record<string, string>
}

function startupOf(row: SourceRow, move: Move): string {
  if (move.kind === 'pterodactyl') return textOf(row, 'startup')
  const commands = Object.values((jsonOf(row, 'startup_commands') ?? {}) as Record<string, string>)
  if (commands.length > 1)
    move.report.change('eggs', Number(row.id), 'has several startup commands: the first one moves')
  return commands[0] ?? ''
}

/** Sets which eggs others take their configuration and script from, when all are there. */
const linkEggs: Step['after'] = async (tx, move) => {
  for await (const rows of move.spool.batches('eggs')) {
    for (const row of rows) {
      if (!move.touched.get('eggs')?.has(Number(row.id))) continue
      const moved = (id: number | null) => (id !== null && move.moved.get('eggs')?.has(id) ? id : null)
      const [configFrom, copyScriptFrom] = [
        moved(numberOrNull(row, 'config_from')),
        moved(numberOrNull(row, 'copy_script_from')),
      ]
      if (configFrom === null && copyScriptFrom === null) continue
      await tx.db
        .update(eggs)
        .set({ configFrom, copyScriptFrom })
        .where(eq(eggs.id, Number(row.id)))
    }
  }
}

function mapVariable(row: SourceRow, move: Move): MovedRow | null {
  if (!hasParent(move, 'egg_variables', row, 'egg_id', 'eggs')) return null
  const id = Number(row.id)
  const first = findFirst(move, 'egg_variables', id, [Number(row.egg_id), textOf(row, 'env_variable')])
  if (first !== null) {
    move.report.leaveOut('egg_variables', id, `has the environment name of row ${first} of its egg`)
    return null
  }
  const rules = jsonOf(row, 'rules')
  return {
    values: {
      id,
      eggId: Number(row.egg_id),
      name: textOf(row, 'name'),
      description: textOf(row, 'description'),
      envVariable: textOf(row, 'env_variable'),
      defaultValue: textOf(row, 'default_value'),
      userViewable: isTrue(row, 'user_viewable'),
      userEditable: isTrue(row, 'user_editable'),
      rules: Array.isArray(rules) ? rules.join('|') : textOf(row, 'rules'),
      ...timesOf(row),
    },
  }
}

/** Maps a row of a table that joins mounts with others; in Pelican all are rows of `mountables`. */
const mapPair =
  (source: string, column: string, parent: string, name: string) =>
  (row: SourceRow, move: Move): MovedRow | null => {
    const isPelican = move.kind === 'pelican'
    const type = parent.slice(0, -1)
    if (isPelican && textOf(row, 'mountable_type').split('\\').at(-1)?.toLowerCase() !== type) return null
    const pair = isPelican ? { ...row, [column]: row.mountable_id ?? null } : row
    if (!hasParent(move, source, pair, 'mount_id', 'mounts')) return null
    if (!hasParent(move, source, pair, column, parent)) return null
    return { values: { mountId: Number(pair.mount_id), [name]: Number(pair[column]) } }
  }

/** Nests, eggs and their variables, in this order. */
export const eggSteps: Step[] = [
  { source: 'nests', target: nests, unique: ['uuid'], map: mapNest },
  { source: 'eggs', target: eggs, unique: ['uuid'], after: linkEggs, map: mapEgg },
  { source: 'egg_variables', target: eggVariables, map: mapVariable },
]

/** What mounts belong to, after eggs, nodes and servers. */
export const mountSteps = (kind: Move['kind']): Step[] =>
  (
    [
      ['egg_mount', 'egg_id', 'eggs', 'eggId', eggMount],
      ['mount_node', 'node_id', 'nodes', 'nodeId', mountNode],
      ['mount_server', 'server_id', 'servers', 'serverId', mountServer],
    ] as const
  ).map(([table, column, parent, name, target]) => {
    const source = kind === 'pelican' ? 'mountables' : table
    return { source, target, key: ['mountId', name], map: mapPair(source, column, parent, name) }
  })
