import * as z from 'zod'
import { addDatabaseHost, DatabaseHostInput } from '../../domain/databases/hosts.ts'
import type { Panel } from '../../panel.ts'
import { findNodeNamed } from '../find-by-name.ts'

/** The input of `database-host:create`; `node` is an id, uuid or name, and the name is the host when left out. */
export const DatabaseHostCreateInput = () =>
  DatabaseHostInput()
    .omit({ node_id: true })
    .partial({ name: true, port: true })
    .extend({ node: z.string().nullish() })

/** A database host as the command line shows it. */
export type ShownDatabaseHost = { id: number; name: string; host: string; port: number; username: string }

const defaultPort = 3306

/** Adds a database host. Throws when the node does not exist, and refuses as `addDatabaseHost`. */
export async function createDatabaseHost(
  panel: Panel,
  input: z.output<ReturnType<typeof DatabaseHostCreateInput>>,
): Promise<ShownDatabaseHost> {
  const { node, name = input.host, port = defaultPort, ...rest } = input
  const node_id = node ? (await findNodeNamed(panel, node)).id : null
  const { id, host, username } = await addDatabaseHost(panel, { ...rest, name, port, node_id })
  return { id, name, host, port, username }
}
