import * as z from 'zod'
import { testDatabaseHost } from '../../domain/databases/hosts.ts'
import type { Panel } from '../../panel.ts'
import { findDatabaseHostNamed } from '../find-by-name.ts'

/** The input of `database-host:test`: an id or name. */
export const DatabaseHostTestInput = () => z.object({ host: z.string().min(1, 'required') })

export type TestedDatabaseHost = { id: number; name: string; version: string; tls: boolean }

/** Logs in to a database host and returns its version. Throws when it does not exist or the login fails. */
export async function testNamedDatabaseHost(
  panel: Panel,
  input: z.output<ReturnType<typeof DatabaseHostTestInput>>,
): Promise<TestedDatabaseHost> {
  const { id, name } = await findDatabaseHostNamed(panel, input.host)
  return { id, name, ...(await testDatabaseHost(panel, id)) }
}
