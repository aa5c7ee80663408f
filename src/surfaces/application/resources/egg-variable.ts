import * as z from 'zod'
import type { EggVariable } from '../../../db/tables/egg-variables.ts'
import { resource } from '../../../http/resource.ts'

/** Formats the times of variables with microseconds and `Z`, unlike all others: SDKs parse them so. */
const rawTimestamp = (instant: Date) => instant.toISOString().replace(/Z$/, '000Z')

export const variableShape = () => ({
  id: z.int(),
  egg_id: z.int(),
  name: z.string(),
  description: z.string(),
  env_variable: z.string(),
  default_value: z.string(),
  user_viewable: z.boolean(),
  user_editable: z.boolean(),
  rules: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})

export const variableAttributes = (row: EggVariable) => ({
  id: row.id,
  egg_id: row.eggId,
  name: row.name,
  description: row.description,
  env_variable: row.envVariable,
  default_value: row.defaultValue,
  user_viewable: row.userViewable,
  user_editable: row.userEditable,
  rules: row.rules,
  created_at: rawTimestamp(row.createdAt),
  updated_at: rawTimestamp(row.updatedAt),
})

export const EggVariableResource = resource(
  'egg_variable',
  () => z.object(variableShape()),
  variableAttributes,
)
