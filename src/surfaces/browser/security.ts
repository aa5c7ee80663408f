import { Hono } from 'hono'
import * as z from 'zod'
import { CurrentPasswordInput } from '../../domain/auth/current-password.ts'
import {
  addPasskey,
  beginPasskeyRegistration,
  PasskeyInput,
  removePasskey,
} from '../../domain/auth/passkeys/manage.ts'
import { readSecurityOverview } from '../../domain/auth/security-overview.ts'
import { endAccountSession, endOtherSessions, listAccountSessions } from '../../domain/auth/sessions.ts'
import { pathId } from '../../domain/fields.ts'
import { refuseOtherMethods } from '../../http/errors.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import {
  authRateLimit,
  type BrowserEnv,
  browserSession,
  sendKnownBrowserCookie,
  signedIn,
} from './middleware.ts'
import { CreationOptionsAnswer } from './resources/passkey-options.ts'
import { presentSecurity, presentSessions, SecurityAnswer, SessionsAnswer } from './resources/security.ts'

const IdParams = () => z.object({ id: pathId() })
const SessionParams = () => z.object({ id: z.string().regex(/^[0-9a-f]{32}$/) })

/** The caller's sign-in methods and sessions. Spec: docs/accounts.md#account-security. */
export const security = new Hono<BrowserEnv>()
  .get(
    '/',
    summary('Show your sign-in methods'),
    browserSession,
    signedIn,
    authRateLimit,
    returns(200, SecurityAnswer),
    async (c) => c.json(presentSecurity(await readSecurityOverview(c.var.panel, c.var.session))),
  )

  .post(
    '/passkeys/options',
    summary('Get the options to add a passkey'),
    browserSession,
    signedIn,
    authRateLimit,
    body(CurrentPasswordInput),
    returns(200, CreationOptionsAnswer),
    async (c) => c.json(await beginPasskeyRegistration(c.var.panel, c.var.session, c.req.valid('json'))),
  )
  .use('/passkeys/options', refuseOtherMethods)

  .post(
    '/passkeys',
    summary('Add a passkey'),
    browserSession,
    signedIn,
    authRateLimit,
    body(PasskeyInput),
    returns(204),
    async (c) => {
      await addPasskey(c.var.panel, c.var.session, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .delete(
    '/passkeys/:id',
    summary('Delete a passkey'),
    browserSession,
    signedIn,
    authRateLimit,
    params(IdParams),
    body(CurrentPasswordInput),
    returns(204),
    async (c) => {
      await removePasskey(c.var.panel, c.req.valid('param').id, c.req.valid('json').current_password)
      return c.body(null, 204)
    },
  )

  .get(
    '/sessions',
    summary('List your sessions'),
    browserSession,
    signedIn,
    authRateLimit,
    returns(200, SessionsAnswer),
    async (c) => c.json(presentSessions(await listAccountSessions(c.var.panel))),
  )

  .delete(
    '/sessions',
    summary('End your other sessions'),
    browserSession,
    signedIn,
    authRateLimit,
    returns(204),
    async (c) => {
      sendKnownBrowserCookie(c, await endOtherSessions(c.var.panel))
      return c.body(null, 204)
    },
  )

  .delete(
    '/sessions/:id',
    summary('End a session'),
    browserSession,
    signedIn,
    authRateLimit,
    params(SessionParams),
    returns(204),
    async (c) => {
      const knownBrowserToken = await endAccountSession(c.var.panel, c.req.valid('param').id)
      if (knownBrowserToken !== null) sendKnownBrowserCookie(c, knownBrowserToken)
      return c.body(null, 204)
    },
  )
