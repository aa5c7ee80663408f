import type { Panel } from '../panel.ts'

/** The variables that every handler finds in its context. */
export type HttpEnv = {
  Variables: {
    panel: Panel
    /** Opens the body of a `GET`, which a `Request` cannot have on this platform. */
    bodyOfGet?: () => Request['body']
  }
}
