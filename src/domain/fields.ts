import * as z from 'zod'

/** The largest id of a row. */
const maxRowId = 2_147_483_647

// The types of these arguments document what callers should send; the values are not checked yet.
const toNumber = (value: number | string) =>
  typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value

const toBoolean = (value: boolean | number | string) => {
  if (value === 1 || value === '1' || value === 'true') return true
  if (value === 0 || value === '0' || value === 'false') return false
  return value
}

const toText = (value: string | number | boolean) =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

/** An integer within the bounds of a column; accepts numeric strings. `rules` names what text that is no number breaks. */
export const integer = (
  minimum = -maxRowId,
  maximum = maxRowId,
  rules: { min?: string; max?: string; type?: 'numeric' } = {},
) =>
  z
    .preprocess(
      toNumber,
      z
        .int({
          error: ({ input }) => {
            if (input === undefined || input === null) return undefined
            return typeof input === 'number' ? 'integer' : (rules.type ?? 'integer')
          },
        })
        .min(minimum, rules.min ?? 'min')
        .max(maximum, rules.max ?? 'max'),
    )
    .meta({ alsoAccepts: 'numbers as text' })

/** A boolean; accepts 1, 0, "1", "0", "true" and "false". */
export const boolean = () =>
  z.preprocess(toBoolean, z.boolean()).meta({ alsoAccepts: [{ enum: [0, 1, '0', '1', 'true', 'false'] }] })

/** A string of `minimum` to `maximum` characters. */
export const text = (maximum: number, minimum = 1) => z.string().min(minimum, 'min').max(maximum, 'max')

/** Marks a text that keeps its leading and trailing blanks, as passwords do; input is trimmed otherwise. */
export const untrimmed = <Schema extends z.ZodType>(schema: Schema): Schema =>
  schema.meta({ preserveWhitespace: true })

/** A string whose length is between two bounds; the rule is named `between`. */
export const textBetween = (minimum: number, maximum: number) =>
  z.string().min(minimum, 'between').max(maximum, 'between')

/** A string; numbers and booleans are converted. */
export const coercedText = (maximum: number) =>
  z
    .preprocess(toText, z.string().max(maximum, 'max'))
    .meta({ alsoAccepts: [{ type: ['number', 'boolean'] }] })

/** The id of a row in a body or query. */
export const rowId = () => integer(1)

/** The id of a row in a path: digits only, within the bounds of the column. */
export const pathId = () =>
  z
    .string()
    .regex(/^[1-9]\d{0,9}$/)
    .transform(Number)
    .refine((id) => id <= maxRowId)

/** A field that must be sent: without it the rule `present` fails. */
export const present = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .unknown()
    .refine((value) => value !== undefined, { error: 'present', abort: true })
    .pipe(schema as unknown as z.ZodType<z.output<Schema>, {} | null>)

/** A field that must be sent and may be null. */
export const presentNullable = <Schema extends z.ZodType>(schema: Schema) => present(schema.nullable())

/** Accepts other names of fields, alias → name; a field that is sent under both keeps the value of its name. */
export const withFieldAliases = <Schema extends z.ZodType>(
  aliases: Readonly<Record<string, string>>,
  schema: Schema,
) =>
  z
    .preprocess((input) => {
      const fields: Record<string, unknown> = { ...(input as object) }
      for (const [alias, name] of Object.entries(aliases)) {
        if (fields[name] === undefined) fields[name] = fields[alias]
      }
      return fields
    }, schema)
    .meta({ fieldAliases: aliases })

/** An e-mail address of at most 191 characters. */
export const email = () => z.string().pipe(z.email('email').min(1, 'between').max(191, 'between'))

/** An object with only these members; refuses others by name with the rule `prohibited`. */
export const strictObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape).catchall(z.custom<undefined>(() => false, 'prohibited'))
