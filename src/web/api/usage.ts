import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ServerUsageResource } from '../../surfaces/client/resources/server-usage.ts'
import { abortedBy, json, serverApi } from './client.ts'
import { attributesOf, type AttributesOf } from './resources.ts'

export type ServerUsage = AttributesOf<typeof ServerUsageResource>
export type UsagePoint = ServerUsage['points'][number]
export type ProcessChange = ServerUsage['changes'][number]

const refetchIntervalMs = 60_000

/** The stored usage of a server over a period. */
export const usageQuery = (server: string, period: ServerUsage['period']) =>
  queryOptions({
    queryKey: ['usage', server, period],
    queryFn: ({ signal }) =>
      json(serverApi.statistics.$get({ param: { server }, query: { period } }, abortedBy(signal))),
    select: attributesOf,
    refetchInterval: refetchIntervalMs,
    placeholderData: keepPreviousData,
  })
