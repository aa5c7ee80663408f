import * as z from 'zod'
import {
  daemonConfiguration,
  type DaemonConfiguration,
  type ServerConfigurationRows,
} from '../../../domain/servers/configuration.ts'
import { jsonBytes } from '../../../http/json-bytes.ts'
import type { JsonText } from '../../../http/json-text.ts'
import type { Page } from '../../../http/resource.ts'
import { writeConfigurations } from './configuration-text.ts'

/** Numbers that the daemon decodes as integers: it skips a server with a fraction or a string. */
const Settings = () =>
  z.strictObject({
    id: z.int(),
    uuid: z.uuid(),
    meta: z.strictObject({ name: z.string(), description: z.string() }),
    suspended: z.boolean(),
    environment: z.record(z.string(), z.string()),
    invocation: z.string(),
    skip_egg_scripts: z.boolean(),
    build: z.strictObject({
      memory_limit: z.int().min(0),
      swap: z.int().min(-1),
      io_weight: z.int().min(10).max(1000),
      cpu_limit: z.int().min(0),
      threads: z.string().nullable(),
      disk_space: z.int().min(0),
      oom_disabled: z.boolean(),
      oom_killer: z.boolean(),
    }),
    container: z.strictObject({
      image: z.string(),
      oom_disabled: z.boolean(),
      requires_rebuild: z.literal(false),
    }),
    allocations: z.strictObject({
      force_outgoing_ip: z.boolean(),
      default: z.strictObject({ ip: z.string(), port: z.int().min(1).max(65_535) }),
      mappings: z.record(z.string(), z.array(z.int().min(1).max(65_535))),
    }),
    mounts: z.array(z.strictObject({ source: z.string(), target: z.string(), read_only: z.boolean() })),
    egg: z.strictObject({
      id: z.uuid(),
      file_denylist: z.array(z.string()),
      features: z.strictObject({ local_runtime: z.array(z.string()) }).optional(),
    }),
  })

/** Null in any of these crashes the daemon. */
const ProcessConfiguration = () =>
  z.strictObject({
    startup: z.strictObject({
      done: z.array(z.string()),
      user_interaction: z.array(z.string()),
      strip_ansi: z.boolean(),
    }),
    stop: z.strictObject({ type: z.enum(['command', 'signal', 'stop']), value: z.string() }),
    configs: z.array(
      z.looseObject({
        parser: z.string(),
        file: z.string(),
        replace: z.array(
          z.strictObject({
            match: z.string(),
            if_value: z.string().optional(),
            replace_with: z.union([z.string(), z.number(), z.boolean()]),
          }),
        ),
      }),
    ),
  })

/** Schema of the configuration of a server. */
export const ServerConfiguration = () =>
  z.strictObject({ settings: Settings(), process_configuration: ProcessConfiguration() })

/** Schema of a page of configurations. */
export const ConfigurationPage = () =>
  z.strictObject({
    data: z.array(ServerConfiguration().extend({ uuid: z.uuid() })),
    links: z.strictObject({
      first: z.url(),
      last: z.url(),
      prev: z.url().nullable(),
      next: z.url().nullable(),
    }),
    meta: z.strictObject({
      current_page: z.int().min(1),
      from: z.int().min(1).nullable(),
      last_page: z.int().min(1),
      path: z.url(),
      per_page: z.int().min(1),
      to: z.int().min(1).nullable(),
      total: z.int().min(0),
    }),
  })

/** Presents the configuration of a server to its daemon. Wings: GET /servers/{uuid}. */
export function serverConfiguration(rows: ServerConfigurationRows): Omit<DaemonConfiguration, 'uuid'> {
  const { settings, process_configuration } = daemonConfiguration(rows)
  return { settings, process_configuration }
}

/** Writes a page of configurations as JSON; `path` is the public URL of the list. Wings: GET /servers. */
export function writeConfigurationPage(
  page: Page<ServerConfigurationRows>,
  path: string,
): JsonText<z.output<ReturnType<typeof ConfigurationPage>>> {
  const bytes = jsonBytes((page.rows.length + 1) * expectedBytes)
  bytes.text('{"data":[')
  writeConfigurations(bytes, page.rows)
  bytes.text(`],${JSON.stringify(linksOf(page, path)).slice(1)}`)
  return bytes.finish()
}

/** Bytes of a configuration. */
const expectedBytes = 3000

function linksOf(page: Page<unknown>, path: string) {
  const lastPage = Math.max(1, Math.ceil(page.total / page.perPage))
  const link = (number: number) => `${path}?page=${number}&per_page=${page.perPage}`
  const offset = (page.page - 1) * page.perPage
  const shown = page.rows.length
  return {
    links: {
      first: link(1),
      last: link(lastPage),
      prev: page.page > 1 ? link(page.page - 1) : null,
      next: page.page < lastPage ? link(page.page + 1) : null,
    },
    meta: {
      current_page: page.page,
      from: shown > 0 ? offset + 1 : null,
      last_page: lastPage,
      path,
      per_page: page.perPage,
      to: shown > 0 ? offset + shown : null,
      total: page.total,
    },
  }
}
