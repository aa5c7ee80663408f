import type { Panel } from '../panel.ts'

/** The variables that every handler finds in its context. */
export type HttpEnv = {
  Variables: {
    panel: Panel
    /** The id of the request, as `X-Request-Id` says. */
    requestId: string
    /** Requests that the tightest throttle so far has left. */
    remainingRequests?: number
    /** Opens the body of a `GET`, which a `Request` cannot have on this platform. */
    bodyOfGet?: () => Request['body']
    /** Calls the listener once the answer is sent, on platforms that know when. */
    whenSent?: (listener: () => void) => void
  }
}
