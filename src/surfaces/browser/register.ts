import { Hono } from 'hono'
import { registerUser as registerAccount, RegistrationInput } from '../../domain/auth/registration.ts'
import { resolveLanguage } from '../../domain/languages.ts'
import { body, returns, summary } from '../../http/route.ts'
import { authRateLimit, type BrowserEnv, browserSession, guest, sendSessionCookies } from './middleware.ts'
import { presentSignIn, SignInAnswer } from './resources/sign-in.ts'

/** Spec: postAuthRegister. */
export const register = new Hono<BrowserEnv>().post(
  '/auth/register',
  summary('Register an account'),
  browserSession,
  guest,
  authRateLimit,
  body(RegistrationInput),
  returns(200, SignInAnswer),
  async (c) => {
    const { panel, clientInfo } = c.var
    const language = resolveLanguage('auto', c.req.header('accept-language'))
    const outcome = await registerAccount(panel, c.req.valid('json'), clientInfo, language)
    sendSessionCookies(c, outcome.session)
    return c.json(presentSignIn(outcome))
  },
)
