import type { ActivityEntry } from '../api/activity.ts'

/** What is said in place of a name where nobody is known to have done it: key of a text of `feed`. */
export const nobodyOf = ({ event }: ActivityEntry): 'system' | 'guest' =>
  event.startsWith('auth:') || event.startsWith('event:') ? 'guest' : 'system'
