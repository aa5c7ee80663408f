import * as z from 'zod'
import type { MoveInStage, MoveInState as State } from '../../adapters/move-in.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { requireRoot } from '../auth/administrators.ts'
import { boolean, text } from '../fields.ts'
import { isTimezone } from '../timezones.ts'

/** The row of the settings with the encrypted keys of the other panel; no setting has its name. */
export const moveInKeysRow = 'move_in.keys'

/** What is told of the move; of its keys nothing. */
export type MoveInState = State

export const moveInStages = [
  'uploading',
  'uploaded',
  'checking',
  'checked',
  'moving',
  'comparing',
  'done',
  'failed',
  'cancelled',
  'interrupted',
  'expired',
] as const satisfies MoveInStage[]

const maxKeys = 20
const maxColumns = 500
const maxVariables = 500

/** The name of the file, which is shown. */
export const DumpQuery = () => z.object({ name: text(255) })

/** What a check needs to know of the other panel. Spec: docs/moving-in.md#in-the-administrators-area. */
export const MoveInCheckInput = () =>
  z.object({
    kind: z.enum(['pterodactyl', 'pelican'], 'in').describe('What the other panel is'),
    app_key: text(200).describe('Its APP_KEY; it is never returned'),
    previous_keys: z.array(text(200)).max(maxKeys, 'max').nullish().describe('Its APP_PREVIOUS_KEYS'),
    env: z
      .record(z.string().regex(/^\w{1,100}$/, 'regex'), z.string().max(2000, 'max'))
      .refine((env) => Object.keys(env).length <= maxVariables, 'max')
      .nullish()
      .describe('What its .env says of settings, its address and ids, by name; it is never returned'),
    timezone: z
      .string()
      .refine(isTimezone, 'timezone')
      .nullish()
      .describe('Its APP_TIMEZONE; UTC without one'),
    correct_timezone: boolean()
      .nullish()
      .describe('Whether it replaces the time zone of an earlier move, as in `first_timezone`'),
    dump_timezone: text(64).nullish().describe('The zone of the dates of a dump that states none'),
    ignore_columns: z
      .array(text(200))
      .max(maxColumns, 'max')
      .nullish()
      .describe('Columns that stay behind though they hold something, as `table.column`'),
  })

/** How the rows are written. */
export const MoveInStartInput = () =>
  z.object({
    since: boolean()
      .nullish()
      .describe('Whether what changed, came and went there since an earlier move is carried over'),
  })

/** Refuses with 403 a caller who is no root administrator, and with 404 where the panel has no disk for a dump. */
export function requireMoveIn(panel: Panel): NonNullable<Panel['moveIn']> {
  requireRoot(panel)
  if (panel.moveIn) return panel.moveIn
  throw notFound(
    'move_in_needs_node',
    'This panel runs as functions, which have no disk for a dump. Move in with the command line: import:pterodactyl or import:pelican.',
  )
}
