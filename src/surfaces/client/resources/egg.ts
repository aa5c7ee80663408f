import * as z from 'zod'
import type { Egg } from '../../../db/tables/eggs.ts'
import { resource } from '../../../http/resource.ts'

/** What users see of a server's egg. */
export const EggResource = resource(
  'egg',
  () => z.object({ uuid: z.uuid(), name: z.string() }),
  (row: Pick<Egg, 'uuid' | 'name'>) => ({ uuid: row.uuid, name: row.name }),
)
