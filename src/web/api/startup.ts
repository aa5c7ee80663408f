import { queryOptions } from '@tanstack/react-query'
import type { EggVariableResource } from '../../surfaces/client/resources/egg-variable.ts'
import { abortedBy, done, json, serverApi } from './client.ts'
import type { AttributesOf } from './resources.ts'

export type Variable = AttributesOf<typeof EggVariableResource>

export const startupKey = (server: string) => ['server', server, 'startup'] as const

/** The variables of a server, its startup command, and the Docker images it may use. */
export const startupQuery = (server: string) =>
  queryOptions({
    queryKey: startupKey(server),
    queryFn: ({ signal }) => json(serverApi.startup.$get({ param: { server } }, abortedBy(signal))),
  })

/** Changes a variable; takes effect at the next start. */
export const changeVariable = (server: string, key: string, value: string) =>
  json(serverApi.startup.variable.$put({ param: { server }, json: { key, value } }))

/** Chooses one of the Docker images of the egg; takes effect at the next start. */
export const changeImage = (server: string, image: string) =>
  done(serverApi.settings['docker-image'].$put({ param: { server }, json: { docker_image: image } }))
