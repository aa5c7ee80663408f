import { Hono } from 'hono'
import { localeOf } from '../../domain/languages.ts'
import { register as registerAccount, RegistrationInput } from '../../domain/registration.ts'
import { body, returns, summary } from '../../http/route.ts'
import { authRateLimit, type BrowserEnv, browserSession, guest, keepSession } from './env.ts'
import { presentSignIn, SignInAnswer } from './resources/sign-in.ts'

/** Spec: Browser authentication, register. */
export const register = new Hono<BrowserEnv>().post(
  '/auth/register',
  summary('Make an account'),
  browserSession,
  guest,
  authRateLimit,
  body(RegistrationInput),
  returns(200, SignInAnswer),
  async (c) => {
    const { panel, visitor } = c.var
    const language = localeOf('auto', c.req.header('accept-language'))
    const outcome = await registerAccount(panel, c.req.valid('json'), visitor, language)
    keepSession(c, outcome.session)
    return c.json(presentSignIn(outcome))
  },
)
