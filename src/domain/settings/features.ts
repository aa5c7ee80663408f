import { forbidden } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { getSetting } from './settings.ts'

/** Refuses with 403 while the feature is switched off. Spec: docs/api.md#features. */
export async function requireFeature(
  panel: Panel,
  feature: 'features.avatars' | 'features.privacy_mode',
): Promise<void> {
  if (!(await getSetting(panel, feature))) throw forbidden('feature_off', 'This feature is switched off.')
}
