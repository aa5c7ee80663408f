import * as z from 'zod'
import type { CountedFolder } from '../../../domain/server-folders/folders.ts'
import { resource } from '../../../http/resource.ts'

/** A folder of the caller, with the number of servers in it. */
export const ServerFolderResource = resource(
  'server_folder',
  () => z.object({ id: z.int(), name: z.string(), servers: z.int() }),
  ({ id, name, servers }: CountedFolder) => ({ id, name, servers }),
)
