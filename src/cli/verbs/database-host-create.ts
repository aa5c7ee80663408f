import * as z from 'zod'
import { addDatabaseHost, DatabaseHostInput } from '../../domain/database-hosts.ts'
import type { Panel } from '../../panel.ts'
import { findNodeNamed } from '../named-rows.ts'

/** What `database-host:create` is given; `node` is an id, uuid or name, the name is the host's when left out. */
export const DatabaseHostCreation = () =>
  DatabaseHostInput()
    .omit({ node_id: true })
    .partial({ name: true, port: true })
    .extend({ node: z.string().nullish() })

/** A database host as the command line shows it. */
export type ShownDatabaseHost = { id: number; name: string; host: string; port: number; username: string }

const defaultPort = 3306

/** Adds a database host. Refuses a node that does not exist, and what `addDatabaseHost` refuses. */
export async function createDatabaseHost(
  panel: Panel,
  input: z.output<ReturnType<typeof DatabaseHostCreation>>,
): Promise<ShownDatabaseHost> {
  const { node, name = input.host, port = defaultPort, ...given } = input
  const node_id = node ? (await findNodeNamed(panel, node)).id : null
  const { id, host, username } = await addDatabaseHost(panel, { ...given, name, port, node_id })
  return { id, name, host, port, username }
}
