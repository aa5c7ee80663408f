import type { Context, MiddlewareHandler } from 'hono'
import { except } from 'hono/combine'
import { type BrowserEnv, browserSession } from './middleware.ts'
import { redirectLoopback } from './page-address.ts'
import { showPage } from './pages.ts'

/** Paths that programs call; they get errors as JSON whatever they accept. */
const apiPaths = /^\/(api|jobs|assets|locales)(\/|$)/

/** Whether a request is for a program, or does more than read: it is left to the error's JSON. */
const isForPrograms = ({ req }: Context): boolean =>
  req.method !== 'GET' ||
  apiPaths.test(req.path) ||
  req.header('authorization') !== undefined ||
  !/\btext\/html\b/i.test(req.header('accept') ?? '')

const answerNotFound: MiddlewareHandler<BrowserEnv> = (c) => showPage(c, 'not_found', 404)

/** Shows a browser the application's page, with 404, at an address that nothing else answers. */
export const notFoundPage: MiddlewareHandler = except(
  isForPrograms,
  redirectLoopback,
  browserSession,
  answerNotFound,
)
