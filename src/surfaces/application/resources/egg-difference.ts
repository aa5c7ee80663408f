import * as z from 'zod'
import type { EggDifference } from '../../../domain/eggs/difference.ts'
import { eggMatches } from '../../../domain/eggs/import-target.ts'
import { resource } from '../../../http/resource.ts'

const FieldDifference = () =>
  z
    .object({ field: z.string(), before: z.unknown(), after: z.unknown() })
    .describe('Null where there is none')

/** What an import would change. */
export const EggDifferenceResource = resource(
  'egg_difference',
  () =>
    z.object({
      name: z.string(),
      state: z.enum(['new', 'updated', 'unchanged']),
      egg: z
        .object({
          id: z.int(),
          name: z.string(),
          matched_by: z.enum(eggMatches),
          checksum: z.string(),
          has_other_origin: z.boolean(),
        })
        .nullable(),
      fields: z.array(FieldDifference()),
      variables: z.array(
        z.object({
          env_variable: z.string(),
          state: z.enum(['added', 'changed', 'removed']),
          fields: z.array(FieldDifference()),
        }),
      ),
      servers: z.object({
        total: z.int(),
        first: z.array(z.object({ id: z.int(), uuid: z.uuid(), name: z.string() })),
      }),
      warnings: z.array(z.string()),
    }),
  ({ egg, variables, ...difference }: EggDifference) => ({
    ...difference,
    egg: egg && {
      id: egg.id,
      name: egg.name,
      matched_by: egg.matchedBy,
      checksum: egg.checksum,
      has_other_origin: egg.isOther,
    },
    variables: variables.map(({ envVariable, state, fields }) => ({
      env_variable: envVariable,
      state,
      fields,
    })),
  }),
)
