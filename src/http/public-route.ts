import { declare, declarePermission } from './metadata.ts'

/** Declares that a route needs no credential. */
export const noCredential = declare({ kind: 'credential', name: 'none' })

/** Declares that every caller may call. */
export const noPermission = declarePermission('anybody')
