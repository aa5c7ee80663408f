import * as z from 'zod'
import type { permissionGroups } from '../../../domain/permissions.ts'
import { resource } from '../../../http/resource.ts'

/** Every permission a subuser can hold, by group, with what it allows. */
export const PermissionsResource = resource(
  'system_permissions',
  () =>
    z.object({
      permissions: z.record(
        z.string(),
        z.object({ description: z.string(), keys: z.record(z.string(), z.string()) }),
      ),
    }),
  (permissions: typeof permissionGroups) => ({ permissions }),
)
