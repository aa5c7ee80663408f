import * as z from 'zod'
import {
  defaultSettings,
  type PublicSettings,
  PublicSettingsSchema,
  type SettingsWithChanges,
} from '../../../domain/settings/settings.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'

const SettingsResource = resource('settings', PublicSettingsSchema, (settings: PublicSettings) => settings)

/** All settings, by group and name, with their defaults, and who changed which last. */
export const SettingsAnswer = () =>
  z.intersection(
    SettingsResource.One(),
    z.object({
      meta: z.object({
        defaults: z.record(z.string(), z.record(z.string(), z.unknown())),
        changes: z.array(
          z.object({
            key: z.string(),
            changed_at: Timestamp(),
            changed_by: z
              .object({ id: z.int(), username: z.string() })
              .nullable()
              .describe('Null for the command line, and for users who were deleted'),
          }),
        ),
      }),
    }),
  )

/** Returns the answer of settings. */
export const presentSettings = ({ settings, changes }: SettingsWithChanges) => ({
  ...SettingsResource.one(settings),
  meta: {
    defaults: defaultSettings(),
    changes: changes.map(({ key, changedAt, changedBy }) => ({
      key,
      changed_at: timestamp(changedAt),
      changed_by: changedBy,
    })),
  },
})
