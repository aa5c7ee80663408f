import { queryOptions } from '@tanstack/react-query'
import type { EggVariableResource } from '../../surfaces/client/resources/egg-variable.ts'
import { request } from './request.ts'
import type { Item, List, Wire } from './resources.ts'

export type Variable = Wire<typeof EggVariableResource>
type Commands = { startup_command: string; raw_startup_command: string }
type Startup = List<Variable> & { meta: Commands & { docker_images: Record<string, string> } }

export const startupKey = (server: string) => ['server', server, 'startup'] as const

/** How a server is started: its variables, the command, and the images it may run in. */
export const startupQuery = (server: string) =>
  queryOptions({
    queryKey: startupKey(server),
    queryFn: ({ signal }) => request<Startup>('GET', `/api/client/servers/${server}/startup`, { signal }),
  })

/** Takes effect at the next start. */
export const changeVariable = (server: string, key: string, value: string) =>
  request<Item<Variable> & { meta: Commands }>('PUT', `/api/client/servers/${server}/startup/variable`, {
    body: { key, value },
  })

/** One of the images of the egg; takes effect at the next start. */
export const changeImage = (server: string, image: string) =>
  request<void>('PUT', `/api/client/servers/${server}/settings/docker-image`, {
    body: { docker_image: image },
  })
