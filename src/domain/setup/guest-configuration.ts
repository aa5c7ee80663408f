import { single } from '../../db/database.ts'
import { oneRow } from '../../db/data-column.ts'
import type { Panel } from '../../panel.ts'
import { type Appearance, appearanceKeys, appearanceOf } from '../appearance/appearance.ts'
import { settingsColumn } from '../settings/settings.ts'
import { isSetupDueColumn } from './code.ts'

export type Captcha = { provider: string; siteKey: string }

/** Reads the name and the appearance of the panel, the captcha of forms for guests, and whether the panel has no user yet. One statement. */
export async function readGuestConfiguration(
  panel: Panel,
): Promise<{ panelName: string; appearance: Appearance; captcha: Captcha; isSetupDue: boolean }> {
  const { isDue, settings } = single(
    await panel.db
      .select({
        isDue: isSetupDueColumn,
        settings: settingsColumn(['panel.name', 'captcha.provider', 'captcha.site_key', ...appearanceKeys]),
      })
      .from(oneRow),
  )
  const captcha = { provider: settings['captcha.provider'], siteKey: settings['captcha.site_key'] ?? '' }
  return {
    panelName: settings['panel.name'] ?? panel.config.name,
    appearance: appearanceOf(settings),
    captcha,
    isSetupDue: isDue,
  }
}
