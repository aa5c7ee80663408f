import { Hono } from 'hono'
import * as z from 'zod'
import { resolveLanguage } from '../../domain/languages.ts'
import { chooseDemo, DemoInput } from '../../domain/setup/demo.ts'
import {
  beginSetupPasskey,
  createFirstAdministrator,
  SetupInput,
  SetupPasskeyInput,
} from '../../domain/setup/first-administrator.ts'
import { readSetupState } from '../../domain/setup/state.ts'
import { noPermission } from '../../http/public-route.ts'
import { body, returns, summary } from '../../http/route.ts'
import { authRateLimit, type BrowserEnv, browserSession, guest, sendSessionCookies } from './middleware.ts'
import { CreationOptionsAnswer } from './resources/passkey-options.ts'
import { presentSignIn, SignInAnswer } from './resources/sign-in.ts'

const SetupState = () =>
  z.object({
    data: z.strictObject({
      is_due: z.boolean().describe('Whether the panel has no user yet'),
      has_passkeys: z.boolean().describe('Whether the first administrator can use a passkey'),
      has_demo: z.boolean().describe('Whether a demo can be made in place of the set-up'),
      name: z.string(),
      url: z.string(),
      timezone: z.string(),
    }),
  })

/** The set-up of a panel without users. Spec: docs/accounts.md#set-up. */
export const setup = new Hono<BrowserEnv>()
  .get(
    '/state',
    summary('Show whether the panel has to be set up'),
    browserSession,
    noPermission,
    returns(200, SetupState),
    async (c) => {
      const { config } = c.var.panel
      const { isDue, hasPasskeys, hasDemo } = await readSetupState(c.var.panel)
      const { name, url, timezone } = config
      const state = { is_due: isDue, has_passkeys: hasPasskeys, has_demo: hasDemo }
      return c.json({ data: { ...state, name, url, timezone } })
    },
  )

  .post(
    '/demo',
    summary('Create a demo in place of the set-up'),
    browserSession,
    guest,
    authRateLimit,
    body(DemoInput),
    returns(200, SignInAnswer),
    async (c) => {
      const { panel, clientInfo } = c.var
      const outcome = await chooseDemo(panel, c.req.valid('json'), clientInfo)
      sendSessionCookies(c, outcome.session)
      return c.json(presentSignIn(outcome))
    },
  )

  .post(
    '/passkey/options',
    summary('Get the options to create a passkey of the first administrator'),
    browserSession,
    guest,
    authRateLimit,
    body(SetupPasskeyInput),
    returns(200, CreationOptionsAnswer),
    async (c) => {
      const { panel, session, clientInfo } = c.var
      const begun = await beginSetupPasskey(panel, session, c.req.valid('json'), clientInfo)
      if (begun.session) sendSessionCookies(c, begun.session)
      return c.json(begun.options)
    },
  )

  .post(
    '/',
    summary('Create the first administrator'),
    browserSession,
    guest,
    authRateLimit,
    body(SetupInput),
    returns(200, SignInAnswer),
    async (c) => {
      const { panel, session, clientInfo } = c.var
      const language = resolveLanguage('auto', c.req.header('accept-language'))
      const input = c.req.valid('json')
      const outcome = await createFirstAdministrator(panel, session, input, clientInfo, language)
      sendSessionCookies(c, outcome.session)
      return c.json(presentSignIn(outcome))
    },
  )
