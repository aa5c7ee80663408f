import { site } from '../app/site.ts'
import { levelResources } from './level-resources.ts'

export type Resource = (typeof levelResources)[number]
export const resources = levelResources

const bits = { read: 1, write: 2 } as const

/** Whether the signed-in administrator has this level on the resource; the panel checks it again. */
export const can = (resource: Resource, level: keyof typeof bits): boolean =>
  ((site.acl?.[resource] ?? 0) & bits[level]) !== 0
