import * as z from 'zod'
import { type Egg, gameIcons } from '../../db/tables/eggs.ts'
import { boolean, rowId } from '../fields.ts'
import { isDockerImage } from './docker-image.ts'
import { configParsers } from './parse-config.ts'
import { SnippetFields } from '../snippets/fields.ts'

/** Converts blank text to null. */
const blankToNull = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' && value.trim() === '' ? null : value),
      schema.nullable(),
    )
    .meta({ alsoAccepts: [{ type: 'string', pattern: '^\\s*$' }] })
    .nullish()

/** Says in the API document that blanks alone are no text. */
const notBlank = { pattern: '\\S' }
const name = () => z.string().trim().min(1, 'between').max(191, 'between').meta(notBlank)
const image = () => z.string().trim().min(1, 'required').refine(isDockerImage, 'regex').meta(notBlank)
const textList = () =>
  z.array(z.string().trim().min(1, 'required').max(255, 'max').meta(notBlank)).max(500, 'max')

const ConfigFile = () =>
  z.looseObject({ parser: z.enum(configParsers), find: z.record(z.string(), z.unknown()) })

const ConfigStartup = () =>
  z.looseObject({
    done: z
      .union([z.array(z.string().max(4096, 'max')).max(100, 'max'), z.string().max(4096, 'max')])
      .optional(),
    strip_ansi: z.boolean().optional(),
  })

/** The installation container of an egg that names none, as Pterodactyl has it. */
export const defaultInstaller = { container: 'alpine:3.4', entrypoint: 'ash' }

/** The names of games in gamedig. */
export const queryGamePattern = /^[a-z\d-]{1,50}$/

/** Snippets of an egg: more would be no help. */
const maxSnippets = 50

/** The fields of an egg; texts are stored as they were sent. Spec: postApplicationNestsByNestEggs. */
export const EggInput = () =>
  z.object({
    name: name(),
    author: blankToNull(name()),
    description: blankToNull(z.string().max(10_000, 'max')),
    features: textList().nullish(),
    docker_images: z
      .record(z.string(), image())
      .refine((images) => Object.keys(images).length > 0, 'required')
      .meta({ minProperties: 1 })
      .describe('Label → image; the first one is the default'),
    file_denylist: textList().nullish(),
    update_url: blankToNull(z.url({ protocol: /^https?$/, error: 'url' }).max(2048, 'max')),
    config_files: z.record(z.string(), ConfigFile()).nullish(),
    config_startup: ConfigStartup().nullish(),
    config_logs: z.record(z.string(), z.unknown()).nullish(),
    config_stop: blankToNull(z.string().max(191, 'max')),
    config_from: rowId()
      .nullish()
      .describe('Egg of the nest from which configuration that is null here is inherited'),
    startup: z.string().trim().min(1, 'required').max(65_535, 'max').meta(notBlank),
    script_container: blankToNull(image()),
    script_entry: blankToNull(z.string().trim().max(191, 'max')),
    script_install: blankToNull(z.string()),
    script_is_privileged: boolean().nullish(),
    copy_script_from: rowId()
      .nullish()
      .describe('Egg of the nest from which the script is inherited when this egg has none'),
    force_outgoing_ip: boolean().nullish(),
    command_snippets: z
      .array(SnippetFields())
      .max(maxSnippets, 'max')
      .nullish()
      .describe('Console commands that users of its servers are offered'),
    icon: z
      .enum(gameIcons)
      .nullish()
      .describe('Drawing of its game in the web application; chosen by the names of egg and game when null'),
    query_game: blankToNull(z.string().trim().regex(queryGamePattern, 'regex')).describe(
      'Game with which servers are queried for their players, by its name in gamedig; guessed when null',
    ),
  })
/** The same fields, all optional. Spec: patchApplicationNestsByNestEggsByEgg. */
export const EggChanges = () => EggInput().partial()
export type EggInput = z.output<ReturnType<typeof EggInput>>
export type EggChanges = z.output<ReturnType<typeof EggChanges>>

/** Converts the fields that were sent into columns; null becomes the default where a column is not nullable. */
export const toEggColumns = (input: EggChanges): Partial<Egg> =>
  omitUndefined({
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
    scriptContainer: input.script_container === null ? defaultInstaller.container : input.script_container,
    scriptEntry: input.script_entry === null ? defaultInstaller.entrypoint : input.script_entry,
    scriptInstall: input.script_install,
    scriptIsPrivileged: input.script_is_privileged ?? undefined,
    copyScriptFrom: input.copy_script_from,
    forceOutgoingIp: input.force_outgoing_ip ?? undefined,
    commandSnippets: input.command_snippets === null ? [] : input.command_snippets,
    icon: input.icon,
    queryGame: input.query_game,
  })

type WithoutUndefined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** Removes undefined fields, so that an update keeps their columns. */
export const omitUndefined = <T extends object>(values: T): WithoutUndefined<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>
