import { type PublicSettings, PublicSettingsSchema } from '../../../domain/settings/settings.ts'
import { resource } from '../../../http/resource.ts'

/** All settings, by group and name. */
export const SettingsResource = resource(
  'settings',
  PublicSettingsSchema,
  (settings: PublicSettings) => settings,
)
