import * as z from 'zod'
import type { FilterChoices } from '../../../domain/servers/filter-choices.ts'
import { resource } from '../../../http/resource.ts'

/** Names by which the list of servers can be filtered. */
export const ServerFiltersResource = resource(
  'server_filters',
  () => z.object({ nodes: z.array(z.string()), eggs: z.array(z.string()) }),
  ({ nodes, eggs }: FilterChoices) => ({ nodes, eggs }),
)
