import type { Item, List, PageOf } from '../../http/resource.ts'
import type { AllocationResource } from '../../surfaces/client/resources/allocation.ts'
import type { ServerResource } from '../../surfaces/client/resources/server.ts'
import type { StatsResource } from '../../surfaces/client/resources/stats.ts'

export type { Item, List, PageOf }

/** What a surface writes of one kind of thing is what is read here: `Wire<typeof BackupResource>`. */
export type Wire<Of extends { attributes: (row: never) => unknown }> = ReturnType<Of['attributes']>

export type Server = Wire<typeof ServerResource>
export type Allocation = Wire<typeof AllocationResource>
export type Stats = Wire<typeof StatsResource>

/** The rows of a list without their envelopes. */
export const rowsOf = <Attributes>(list: List<Attributes>): Attributes[] =>
  list.data.map(({ attributes }) => attributes)

/** The rows of a relation; none where the reader may not see it. */
export const relatedRows = <Attributes>(relation: unknown): Attributes[] => {
  const { data } = relation as { data?: Item<Attributes>[] }
  return data?.map(({ attributes }) => attributes) ?? []
}
