import { application } from './application.ts'

/** Every surface, in the order in which they are tried. */
export const surfaces = [application]
