import * as z from 'zod'
import { isDockerImage } from '../eggs/docker-image.ts'
import { boolean, integer, looseText, present, rowId, text, textBetween } from '../fields.ts'

/** Free text of a start command: long ones exist, but not this long. */
export const longestStartup = 16_384
const longestValue = 16_384
const mostAdditionalAllocations = 500

/** Bounds of a server's share of its node. Memory, swap and disk in MiB, cpu in percent of one core. */
export const LimitsInput = () =>
  z.object({
    memory: integer(0),
    swap: integer(-1),
    disk: integer(0),
    io: integer(10, 1000, { min: 'between', max: 'between' }),
    cpu: integer(0),
    threads: z
      .string()
      .max(191, 'max')
      .regex(/^[0-9\-,]+$/, 'regex')
      .nullish(),
  })

/** The value of a variable; scalars are taken as text, true and false as 1 and 0. */
export const variableText = () =>
  z.preprocess(
    (value) => (typeof value === 'boolean' ? String(Number(value)) : value),
    looseText(longestValue),
  )

/** Values by environment name. PHP writes an empty one as `[]`. */
export const EnvironmentInput = () =>
  z.preprocess(
    (value) => (Array.isArray(value) && value.length === 0 ? {} : value),
    z.record(z.string().max(191, 'max'), variableText().nullish(), {
      error: (issue) => (issue.input === undefined ? 'present' : undefined),
    }),
  )

/** The name of an image in the characters of the specification. Spec: Resources, server. */
export const dockerImage = () => z.string().max(191, 'max').refine(isDockerImage, 'regex')

/** How many of each a server may have. Spec: Resources, server. */
export const FeatureLimitsInput = () =>
  z.object({
    databases: present(integer(0)),
    allocations: integer(0).nullish(),
    backups: present(integer(0)),
  })

/** A list whose members must be sent, though it may be empty. */
const presentList = <Member extends z.ZodType>(member: Member) =>
  z.array(member, {
    error: (issue) => (issue.input === undefined || issue.input === null ? 'present' : undefined),
  })

const DeployInput = () =>
  z.object({
    locations: presentList(integer(1)).max(1000, 'max'),
    dedicated_ip: boolean(),
    port_range: presentList(looseText(32)).max(100, 'max'),
  })

/** Spec: Resources, server. */
export const ServerInput = () =>
  z
    .object({
      external_id: textBetween(1, 191).nullish(),
      name: textBetween(1, 191),
      description: text(65_535).nullish(),
      user: rowId(),
      egg: rowId(),
      docker_image: dockerImage(),
      startup: text(longestStartup),
      environment: EnvironmentInput(),
      skip_scripts: boolean().nullish(),
      oom_disabled: boolean().nullish(),
      limits: LimitsInput(),
      feature_limits: FeatureLimitsInput(),
      allocation: z
        .object({
          default: rowId().nullish(),
          additional: z.array(rowId()).max(mostAdditionalAllocations, 'max').nullish(),
        })
        .nullish(),
      deploy: DeployInput().nullish(),
      start_on_completion: boolean().nullish(),
    })
    .superRefine((input, context) => {
      if (!input.deploy && !input.allocation?.default) {
        context.addIssue({ code: 'custom', path: ['allocation', 'default'], message: 'required' })
      }
    })

export type ServerInput = z.output<ReturnType<typeof ServerInput>>
export type DeployInput = z.output<ReturnType<typeof DeployInput>>
