import type { Acl } from '../../../db/tables/api-keys.ts'

/** Presents levels by resource; leaves out resources without one. */
export const presentLevels = (acl: Acl): Record<string, number> =>
  Object.fromEntries(Object.entries(acl).filter(([, level]) => level > 0))
