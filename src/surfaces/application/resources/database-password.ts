import * as z from 'zod'
import type { OpenedDatabase } from '../../../domain/database-passwords.ts'
import { resource } from '../../../http/resource.ts'

export const DatabasePasswordResource = resource(
  'database_password',
  () => z.object({ password: z.string() }),
  (row: Pick<OpenedDatabase, 'plainPassword'>) => ({ password: row.plainPassword }),
)
