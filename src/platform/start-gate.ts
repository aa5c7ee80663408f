import { unavailable } from '../errors.ts'
import type { Services } from './open-panel.ts'

/** Holds requests back until the services are open. */
export type StartGate = {
  /** What requests wait for. */
  services: () => Promise<Services>
  /** Answers what waits, and what comes until `open`, with 503 and `Retry-After`. */
  refuse: () => void
  open: (services: Services) => void
  /** Fails what waits and what comes: the panel ends. */
  end: () => void
}

/** Makes the gate of a panel that listens already: requests wait, unless it says that this takes longer. */
export function startGate(): StartGate {
  const opening = Promise.withResolvers<Services>()
  // A failure is thrown where the services are opened.
  opening.promise.catch(() => undefined)
  let current = opening.promise
  return {
    services: () => current,
    refuse: () =>
      opening.reject(
        unavailable('panel_database_unreachable', 'The panel cannot reach its database right now.'),
      ),
    open: (services) => {
      opening.resolve(services)
      current = Promise.resolve(services)
    },
    end: () => opening.reject(new Error('The panel has ended.')),
  }
}
