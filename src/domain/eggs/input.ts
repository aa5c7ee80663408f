import * as z from 'zod'
import type { Egg } from '../../db/tables/eggs.ts'
import { boolean, rowId } from '../fields.ts'
import { isDockerImage } from './docker-image.ts'
import { configParsers } from './parse-config.ts'

/** Blank text is as good as none. */
const orBlank = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' && value.trim() === '' ? null : value),
      schema.nullable(),
    )
    .nullish()

const name = () => z.string().trim().min(1, 'between').max(191, 'between')
const image = () => z.string().trim().min(1, 'required').refine(isDockerImage, 'regex')
const words = () => z.array(z.string().trim().min(1, 'required').max(255, 'max')).max(500, 'max')

const ConfigFile = () =>
  z.looseObject({ parser: z.enum(configParsers), find: z.record(z.string(), z.unknown()) })

const ConfigStartup = () =>
  z.object({
    done: z
      .union([z.array(z.string().max(4096, 'max')).max(100, 'max'), z.string().max(4096, 'max')])
      .optional(),
    strip_ansi: z.boolean().optional(),
  })

/** How gamedig spells games. */
export const queryGamePattern = /^[a-z\d-]{1,50}$/

/** Columns of an egg by their names on the wire; texts are kept as they are. Spec: Resources, egg. */
export const EggInput = () =>
  z.object({
    name: name(),
    author: orBlank(name()),
    description: orBlank(z.string().max(10_000, 'max')),
    features: words().nullish(),
    docker_images: z
      .record(z.string(), image())
      .refine((images) => Object.keys(images).length > 0, 'required')
      .describe('Label → image; the first one is the default'),
    file_denylist: words().nullish(),
    update_url: orBlank(z.url({ protocol: /^https?$/, error: 'url' }).max(2048, 'max')),
    config_files: z.record(z.string(), ConfigFile()).nullish(),
    config_startup: ConfigStartup().nullish(),
    config_logs: z.record(z.string(), z.unknown()).nullish(),
    config_stop: orBlank(z.string().max(191, 'max')),
    config_from: rowId()
      .nullish()
      .describe('Egg of the nest that fills in the configuration which is null here'),
    startup: z.string().trim().min(1, 'required').max(65_535, 'max'),
    script_container: orBlank(image()),
    script_entry: orBlank(z.string().trim().max(191, 'max')),
    script_install: orBlank(z.string()),
    script_is_privileged: boolean().nullish(),
    copy_script_from: rowId()
      .nullish()
      .describe('Egg of the nest whose script is taken where this one has none'),
    force_outgoing_ip: boolean().nullish(),
    query_game: orBlank(z.string().trim().regex(queryGamePattern, 'regex')).describe(
      'Game by which its servers are asked who plays, as gamedig names it; guessed while null',
    ),
  })
/** The same fields where only some are sent. */
export const EggChanges = () => EggInput().partial()
export type EggInput = z.output<ReturnType<typeof EggInput>>
export type EggChanges = z.output<ReturnType<typeof EggChanges>>

/** Columns for the fields that were sent; those that cannot be null go back to their defaults. */
export const eggColumnsOf = (input: EggChanges): Partial<Egg> =>
  sentOnly({
    name: input.name,
    author: input.author ?? undefined,
    description: input.description,
    features: input.features,
    dockerImages: input.docker_images,
    fileDenylist: input.file_denylist === null ? [] : input.file_denylist,
    updateUrl: input.update_url,
    configFiles: input.config_files,
    configStartup: input.config_startup as Egg['configStartup'] | undefined,
    configLogs: input.config_logs,
    configStop: input.config_stop,
    configFrom: input.config_from,
    startup: input.startup,
    scriptContainer: input.script_container === null ? 'alpine:3.4' : input.script_container,
    scriptEntry: input.script_entry === null ? 'ash' : input.script_entry,
    scriptInstall: input.script_install,
    scriptIsPrivileged: input.script_is_privileged ?? undefined,
    copyScriptFrom: input.copy_script_from,
    forceOutgoingIp: input.force_outgoing_ip ?? undefined,
    queryGame: input.query_game,
  })

type Sent<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

const sentOnly = <T extends object>(values: T): Sent<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Sent<T>
