import { Hono } from 'hono'
import * as z from 'zod'
import { PasswordProof } from '../../domain/account/current-password.ts'
import { endOtherSessions, endOwnSession, listOwnSessions } from '../../domain/account/own-sessions.ts'
import { readSecurity } from '../../domain/account/security.ts'
import { pathId } from '../../domain/fields.ts'
import { addPasskey, offerPasskey, PasskeyInput, removePasskey } from '../../domain/passkeys/manage.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { authRateLimit, type BrowserEnv, browserSession, signedIn } from './env.ts'
import { CreationOptionsAnswer } from './resources/passkey-options.ts'
import { presentSecurity, presentSessions, SecurityAnswer, SessionsAnswer } from './resources/security.ts'

const ById = () => z.object({ id: pathId() })
const BySession = () => z.object({ id: z.string().regex(/^[0-9a-f]{32}$/) })

/** How the caller signs in, and where he is signed in. Spec: Browser authentication, account/security. */
export const security = new Hono<BrowserEnv>()
  .get(
    '/',
    summary('Show how you sign in'),
    browserSession,
    signedIn,
    authRateLimit,
    returns(200, SecurityAnswer),
    async (c) => c.json(presentSecurity(await readSecurity(c.var.panel, c.var.session))),
  )

  .post(
    '/passkeys/options',
    summary('Ask to add a passkey'),
    browserSession,
    signedIn,
    authRateLimit,
    body(PasswordProof),
    returns(200, CreationOptionsAnswer),
    async (c) => c.json(await offerPasskey(c.var.panel, c.var.session, c.req.valid('json'))),
  )

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
    summary('Take a passkey away'),
    browserSession,
    signedIn,
    authRateLimit,
    params(ById),
    body(PasswordProof),
    returns(204),
    async (c) => {
      await removePasskey(c.var.panel, c.req.valid('param').id, c.req.valid('json').current_password)
      return c.body(null, 204)
    },
  )

  .get(
    '/sessions',
    summary('List the browsers in which you are signed in'),
    browserSession,
    signedIn,
    authRateLimit,
    returns(200, SessionsAnswer),
    async (c) => c.json(presentSessions(await listOwnSessions(c.var.panel))),
  )

  .delete(
    '/sessions',
    summary('Sign out everywhere else'),
    browserSession,
    signedIn,
    authRateLimit,
    returns(204),
    async (c) => {
      await endOtherSessions(c.var.panel)
      return c.body(null, 204)
    },
  )

  .delete(
    '/sessions/:id',
    summary('Sign out of one browser'),
    browserSession,
    signedIn,
    authRateLimit,
    params(BySession),
    returns(204),
    async (c) => {
      await endOwnSession(c.var.panel, c.req.valid('param').id)
      return c.body(null, 204)
    },
  )
