import type { Panel } from '../panel.ts'

/** What every handler finds in its context. */
export type HttpEnv = { Variables: { panel: Panel } }
