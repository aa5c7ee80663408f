import type { ActivityEntry } from '../api/activity.ts'

/** Returns the key in the `feed` texts that stands in for the name of an unknown actor. */
export const actorFallback = ({ event }: ActivityEntry): 'system' | 'guest' =>
  event.startsWith('auth:') || event.startsWith('event:') ? 'guest' : 'system'
