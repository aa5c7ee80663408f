import * as z from 'zod'
import type { Egg } from '../../../db/tables/eggs.ts'
import { Relationships, resource, timestamp, Timestamp } from '../../../http/resource.ts'

/** Writes an empty object as `[]`, as clients of the ecosystem expect. */
const listWhenEmpty = (value: object | null) => (value && Object.keys(value).length === 0 ? [] : value)

const LooseRecord = () => z.record(z.string(), z.unknown())

/** An egg with its own values; the includes `config` and `script` show what it inherits. */
export const EggResource = resource(
  'egg',
  () =>
    z.object({
      id: z.int(),
      uuid: z.uuid(),
      name: z.string(),
      nest: z.int(),
      author: z.string(),
      description: z.string().nullable(),
      docker_image: z.string(),
      docker_images: z.record(z.string(), z.string()),
      config: z.object({
        files: LooseRecord(),
        startup: z.unknown(),
        stop: z.string().nullable(),
        logs: z.unknown(),
        file_denylist: z.array(z.string()),
        extends: z.int().nullable(),
      }),
      startup: z.string(),
      features: z.array(z.string()).nullable(),
      update_url: z.string().nullable(),
      force_outgoing_ip: z.boolean(),
      query_game: z.string().nullable(),
      icon: z.string().nullable(),
      command_snippets: z.array(z.object({ name: z.string(), command: z.string() })),
      script: z.object({
        privileged: z.boolean(),
        install: z.string().nullable(),
        entry: z.string(),
        container: z.string(),
        extends: z.int().nullable(),
      }),
      created_at: Timestamp(),
      updated_at: Timestamp(),
      relationships: Relationships(),
    }),
  (row: Egg) => ({
    id: row.id,
    uuid: row.uuid,
    name: row.name,
    nest: row.nestId,
    author: row.author,
    description: row.description,
    docker_image: Object.values(row.dockerImages)[0] ?? '',
    docker_images: row.dockerImages,
    config: {
      files: row.configFiles ?? {},
      startup: listWhenEmpty(row.configStartup),
      stop: row.configStop,
      logs: listWhenEmpty(row.configLogs),
      file_denylist: row.fileDenylist,
      extends: row.configFrom,
    },
    startup: row.startup,
    features: row.features,
    update_url: row.updateUrl,
    force_outgoing_ip: row.forceOutgoingIp,
    query_game: row.queryGame,
    icon: row.icon,
    command_snippets: row.commandSnippets,
    script: {
      privileged: row.scriptIsPrivileged,
      install: row.scriptInstall,
      entry: row.scriptEntry,
      container: row.scriptContainer,
      extends: row.copyScriptFrom,
    },
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }),
)

/** The configuration of an egg, with what it inherits from the egg in `config_from`. */
export const EggConfigResource = resource(
  'egg_config',
  () =>
    z.object({ files: LooseRecord(), startup: z.unknown(), stop: z.string().nullable(), logs: z.unknown() }),
  (row: Egg) => ({
    files: row.configFiles ?? {},
    startup: listWhenEmpty(row.configStartup),
    stop: row.configStop,
    logs: listWhenEmpty(row.configLogs),
  }),
)

/** The install script of an egg, or the one it inherits from the egg in `copy_script_from`. */
export const EggScriptResource = resource(
  'egg_script',
  () =>
    z.object({
      privileged: z.boolean(),
      install: z.string().nullable(),
      entry: z.string(),
      container: z.string(),
    }),
  (row: Egg) => ({
    privileged: row.scriptIsPrivileged,
    install: row.scriptInstall,
    entry: row.scriptEntry,
    container: row.scriptContainer,
  }),
)
