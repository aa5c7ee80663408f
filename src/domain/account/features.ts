import { forbidden } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { setting } from '../settings.ts'

/** Refuses with 403 while an administrator has the feature switched off. Spec: General conventions, 5. */
export async function requireFeature(
  panel: Panel,
  feature: 'features.avatars' | 'features.privacy_mode',
): Promise<void> {
  if (!(await setting(panel, feature))) throw forbidden('This feature is switched off.')
}
