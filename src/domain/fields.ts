import * as z from 'zod'

/** The largest id a row can have. */
const largestId = 2_147_483_647

const toNumber = (value: unknown) =>
  typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value

const toBoolean = (value: unknown) => {
  if (value === 1 || value === '1' || value === 'true') return true
  if (value === 0 || value === '0' || value === 'false') return false
  return value
}

const toText = (value: unknown) =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

/** An integer in the bounds of a column; numeric strings are taken. */
export const integer = (
  minimum = -largestId,
  maximum = largestId,
  rules: { min?: string; max?: string } = {},
) =>
  z.preprocess(
    toNumber,
    z
      .int({ error: (issue) => (issue.input === undefined || issue.input === null ? undefined : 'integer') })
      .min(minimum, rules.min ?? 'min')
      .max(maximum, rules.max ?? 'max'),
  )

/** True or false; 1, 0, "1", "0", "true" and "false" are taken. */
export const boolean = () => z.preprocess(toBoolean, z.boolean())

/** A string of at most `maximum` characters. */
export const text = (maximum: number, minimum = 1) => z.string().min(minimum, 'min').max(maximum, 'max')

/** A string whose length is between two bounds; the rule is called `between`. */
export const textBetween = (minimum: number, maximum: number) =>
  z.string().min(minimum, 'between').max(maximum, 'between')

/** A string; a number is taken as its digits. */
export const looseText = (maximum: number) => z.preprocess(toText, z.string().max(maximum, 'max'))

/** The id of a row in a body or query. */
export const rowId = () => integer(1)

/** The id of a row in a path: plain digits within the bounds of the column. */
export const pathId = () =>
  z
    .string()
    .regex(/^[1-9]\d{0,9}$/)
    .transform(Number)
    .refine((id) => id <= largestId)

/** Must be there, may be null. */
export const present = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .unknown()
    .refine((value) => value !== undefined, { error: 'present', abort: true })
    .pipe(schema.nullable() as unknown as z.ZodType<z.output<Schema> | null, {} | null>)

/** An e-mail address; stricter than what mail servers accept, as the specification asks. */
export const email = () => z.string().pipe(z.email('email').min(1, 'between').max(191, 'between'))
