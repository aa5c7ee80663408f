import { application } from './application.ts'
import { browser } from './browser.ts'
import { client } from './client.ts'
import { jobs } from './jobs.ts'
import { operations } from './operations.ts'
import { pictures } from './pictures.ts'
import { remote } from './remote.ts'

/** Every surface, in the order in which they are tried. */
export const surfaces = [application, client, pictures, operations, browser, jobs, remote]
