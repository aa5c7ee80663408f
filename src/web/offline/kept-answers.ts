/** Answers of one account at most, so that a browser with little space keeps them. */
export const maxKeptAnswers = 300

/** Milliseconds between two copies of an answer that pages ask for every few seconds. */
const pollingMs = 30_000

/** What players look at. Answers with secrets are left out: keys, sessions, databases, variables, contents and links. */
const keptAddress =
  /^\/api\/client(\/permissions|\/account(\/(activity|announcements|notifications|servers\/folders))?|\/servers(\/resources)?|\/servers\/[^/]+(\/(resources|installation|backups|schedules|schedules\/\d+|schedules\/\d+\/runs|files\/list|network\/allocations|users|trash|activity|query|statistics))?)?$/

const pollingAddress = /\/(resources|query)$/

/** Whether the last answer to a `GET` of this path is shown while the panel cannot be reached. */
export const isKept = (path: string): boolean => keptAddress.test(path)

/** Whether an answer is to be kept again, which was kept so many milliseconds ago. */
export const isDueAgain = (path: string, age: number): boolean =>
  !pollingAddress.test(path) || age >= pollingMs

/** Whether the application starts at this path. */
export const isPage = (path: string): boolean =>
  path === '/' || (/^\/(server|account)(\/|$)/.test(path) && !path.startsWith('/account/security'))
