import { SettingsShape, type ShownSettings } from '../../../domain/settings.ts'
import { resource } from '../../../http/resource.ts'

/** All settings, by group and name. */
export const SettingsResource = resource('settings', SettingsShape, (settings: ShownSettings) => settings)
