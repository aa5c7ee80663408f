import * as z from 'zod'
import { testDatabaseHost } from '../../domain/database-hosts.ts'
import type { Panel } from '../../panel.ts'
import { findDatabaseHostNamed } from '../named-rows.ts'

/** What `database-host:test` is given: an id or name. */
export const DatabaseHostTesting = () => z.object({ host: z.string().min(1, 'required') })

export type TestedDatabaseHost = { id: number; name: string; version: string; tls: boolean }

/** Logs in to a database host and says what it is. Refuses a host that does not exist or does not let the panel in. */
export async function tryDatabaseHost(
  panel: Panel,
  input: z.output<ReturnType<typeof DatabaseHostTesting>>,
): Promise<TestedDatabaseHost> {
  const { id, name } = await findDatabaseHostNamed(panel, input.host)
  return { id, name, ...(await testDatabaseHost(panel, id)) }
}
