import { adminGet, adminQuery } from '../../api/admin.ts'
import { currentOf } from '../form/current-version.ts'
import type { FormValues } from '../form/resource-form.tsx'
import type { Item, Server } from '../resources.ts'

const include = 'user,node,egg,allocations,location'

/** A server with the resources around it. */
export const serverQuery = (id: string | number) => adminQuery<Item<Server>>(`/servers/${id}`, { include })

/** Fetches a server as it is now, with its variables. */
export const fetchServer = async (id: number): Promise<Server> =>
  (await adminGet<Item<Server>>(`/servers/${id}`, { include: 'variables' })).attributes

/** Returns the function that fetches the present values of a form about a server, and its version. */
export const currentServer = (id: number, valuesOf: (server: Server) => FormValues) =>
  currentOf(`/servers/${id}`, valuesOf, { include: 'variables' })
