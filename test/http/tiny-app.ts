import { Hono } from 'hono'
import type { HttpEnv } from '../../src/http/http-env.ts'
import { handleError, handleNotFound } from '../../src/http/errors.ts'
import { routesOf } from '../../src/http/metadata.ts'
import type { Panel } from '../../src/panel.ts'
import { answerOf, type Answer } from '../support/answers.ts'

/** Creates an app with only the common middleware, and a panel with only what a test needs. */
export function tinyApp(panel: Partial<Panel> = {}): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>({ strict: false })
  app.onError(handleError)
  app.notFound(handleNotFound(() => routesOf(app)))
  app.use(async (c, next) => {
    c.set('panel', panel as Panel)
    await next()
  })
  return app
}

/** Sends a request to the app and reads the response. */
export const ask = async (
  app: Pick<Hono<HttpEnv>, 'request'>,
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<Answer> => answerOf(await app.request(`http://panel.test${path}`, { method, ...init }))

/** Builds a POST with a JSON body, given as text or as a value. */
export const json = (body: unknown): RequestInit => ({
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
