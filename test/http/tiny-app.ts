import { Hono } from 'hono'
import type { HttpEnv } from '../../src/http/environment.ts'
import { answerError, answerMissing } from '../../src/http/errors.ts'
import { routesOf } from '../../src/http/facts.ts'
import type { Panel } from '../../src/panel.ts'
import { answerOf, type Answer } from '../support/answers.ts'

/** An app with nothing but the dialect, and a panel with only what a test needs of it. */
export function tinyApp(panel: Partial<Panel> = {}): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>({ strict: false })
  app.onError(answerError)
  app.notFound(answerMissing(() => routesOf(app)))
  app.use(async (c, next) => {
    c.set('panel', panel as Panel)
    await next()
  })
  return app
}

/** What the app answers, read once. */
export const ask = async (
  app: Pick<Hono<HttpEnv>, 'request'>,
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<Answer> => answerOf(await app.request(`http://panel.test${path}`, { method, ...init }))

/** A JSON body as text or as a value. */
export const json = (body: unknown): RequestInit => ({
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
