import * as z from 'zod'
import type { DatabaseWithPassword } from '../../../domain/databases/passwords.ts'
import { resource } from '../../../http/resource.ts'

export const DatabasePasswordResource = resource(
  'database_password',
  () => z.object({ password: z.string() }),
  (row: Pick<DatabaseWithPassword, 'plainPassword'>) => ({ password: row.plainPassword }),
)
