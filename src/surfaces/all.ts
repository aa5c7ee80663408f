import { application } from './application.ts'
import { avatars } from './avatars.ts'
import { browser } from './browser.ts'
import { client } from './client.ts'
import { jobs } from './jobs.ts'
import { monitoring } from './monitoring.ts'
import { remote } from './remote.ts'

/** Every surface, in the order in which their routes are tried. */
export const surfaces = [application, client, avatars, monitoring, browser, jobs, remote]
