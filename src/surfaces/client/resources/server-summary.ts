import * as z from 'zod'
import { serverStatuses } from '../../../db/tables/servers.ts'
import type { ServerSummary } from '../../../domain/servers/server-summaries.ts'
import { resource } from '../../../http/resource.ts'

/** What lists show of a server, and what the caller may do there. Memory and disk in MiB, CPU in percent of one core. */
export const ServerSummaryResource = resource(
  'server_summary',
  () =>
    z.object({
      identifier: z.string().length(8),
      uuid: z.uuid(),
      name: z.string(),
      server_owner: z.boolean(),
      user_permissions: z.array(z.string()),
      address: z.object({ ip: z.string(), ip_alias: z.string().nullable(), port: z.int() }).nullable(),
      node: z.string(),
      location: z.string(),
      egg: z.string(),
      game: z.string().nullable().describe('By its name in gamedig; null when it is not known'),
      icon: z.string().nullable().describe('Drawing that the egg names'),
      limits: z.object({ memory: z.int(), disk: z.int(), cpu: z.int() }),
      state: z
        .enum(['offline', 'starting', 'running', 'stopping'])
        .nullable()
        .describe('As the node reported it last'),
      status: z.enum(serverStatuses).nullable(),
      is_suspended: z.boolean(),
      is_installing: z.boolean(),
      is_transferring: z.boolean(),
      is_node_under_maintenance: z.boolean(),
      players: z
        .object({
          online: z.int().nullable(),
          max: z.int().nullable(),
          version: z.string().nullable(),
        })
        .nullable()
        .describe('The latest answer of the game while it is at most 15 minutes old'),
      is_favourite: z.boolean(),
      folder: z.int().nullable(),
    }),
  ({ server, node, egg, address, ...row }: ServerSummary) => ({
    identifier: server.uuidShort,
    uuid: server.uuid,
    name: server.name,
    server_owner: row.isOwner,
    user_permissions: [...row.permissions],
    address: address && { ip: address.ip, ip_alias: address.alias, port: address.port },
    node: node.name,
    location: node.location,
    egg: egg.name,
    game: egg.game,
    icon: egg.icon,
    limits: { memory: server.memory, disk: server.disk, cpu: server.cpu },
    state: row.state,
    status: server.status,
    is_suspended: server.status === 'suspended',
    is_installing: server.status === 'installing' || server.status === 'install_failed',
    is_transferring: row.isTransferring,
    is_node_under_maintenance: node.isUnderMaintenance,
    players: row.players,
    is_favourite: row.isFavourite,
    folder: row.folderId,
  }),
)
