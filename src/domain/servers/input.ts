import * as z from 'zod'
import { isDockerImage } from '../eggs/docker-image.ts'
import { boolean, coercedText, integer, presentNullable, rowId, text, textBetween } from '../fields.ts'

/** Longest start command, in characters. */
export const maxStartupLength = 16_384
const maxValueLength = 16_384
const maxAdditionalAllocations = 500

/** Limits of a server. Memory, swap and disk in MiB, cpu in percent of one core. */
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

/** The value of a variable; numbers are accepted as text, true and false as 1 and 0. */
export const variableValueField = () =>
  z.preprocess(
    (value) => (typeof value === 'boolean' ? String(Number(value)) : value),
    coercedText(maxValueLength),
  )

/** Values by environment name. PHP writes an empty one as `[]`. */
export const EnvironmentInput = () =>
  z
    .preprocess(
      (value) => (Array.isArray(value) && value.length === 0 ? {} : value),
      z.record(z.string().max(191, 'max'), variableValueField().nullish(), {
        error: (issue) => (issue.input === undefined ? 'present' : undefined),
      }),
    )
    .meta({ alsoAccepts: [{ type: 'array', maxItems: 0 }] })

/** A reference of a Docker image. Spec: postApplicationServers. */
export const dockerImageField = () => z.string().max(191, 'max').refine(isDockerImage, 'regex')

/** How many databases, allocations and backups a server may have. Spec: postApplicationServers. */
export const FeatureLimitsInput = () =>
  z.object({
    databases: presentNullable(integer(0)),
    allocations: integer(0).nullish(),
    backups: presentNullable(integer(0)),
  })

/** A list that must be sent and may be empty. */
const requiredList = <Member extends z.ZodType>(member: Member) =>
  z.array(member, {
    error: (issue) => (issue.input === undefined || issue.input === null ? 'present' : undefined),
  })

const DeployInput = () =>
  z.object({
    locations: requiredList(integer(1)).max(1000, 'max'),
    dedicated_ip: boolean(),
    port_range: requiredList(coercedText(32)).max(100, 'max'),
  })

/** A server to create. Spec: postApplicationServers. */
export const ServerInput = () =>
  z
    .object({
      external_id: textBetween(1, 191).nullish(),
      name: textBetween(1, 191),
      description: text(65_535).nullish(),
      user: rowId(),
      egg: rowId(),
      docker_image: dockerImageField(),
      startup: text(maxStartupLength),
      environment: EnvironmentInput(),
      skip_scripts: boolean().nullish(),
      oom_disabled: boolean().nullish(),
      limits: LimitsInput(),
      feature_limits: FeatureLimitsInput(),
      allocation: z
        .object({
          default: rowId().nullish(),
          additional: z.array(rowId()).max(maxAdditionalAllocations, 'max').nullish(),
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
