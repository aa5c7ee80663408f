import type { Item, List, PageOf } from '../../http/resource.ts'
import type { AllocationResource } from '../../surfaces/client/resources/allocation.ts'
import type { ServerItem } from '../../surfaces/client/resources/server.ts'
import type { StatsResource } from '../../surfaces/client/resources/stats.ts'

export type { Item, List, PageOf }

/** The attributes that a surface writes for a resource: `AttributesOf<typeof BackupResource>`. */
export type AttributesOf<Resource extends { attributes: (row: never) => unknown }> = ReturnType<
  Resource['attributes']
>

export type Server = ServerItem['attributes']
export type Allocation = AttributesOf<typeof AllocationResource>
export type Stats = AttributesOf<typeof StatsResource>

/** Returns the rows of a list without their envelopes. */
export const rowsOf = <Attributes>(list: { data: { attributes: Attributes }[] }): Attributes[] =>
  list.data.map(({ attributes }) => attributes)

/** Returns a resource without its envelope. */
export const attributesOf = <Attributes>({ attributes }: { attributes: Attributes }): Attributes => attributes
