import { type Context, Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { User } from '../../db/tables/users.ts'
import { type Language, localeOf } from '../../domain/languages.ts'
import { reachableDaemons } from '../../domain/reachable-daemons.ts'
import { randomText } from '../../domain/secrets.ts'
import { settingsOf } from '../../domain/settings.ts'
import { type Texts, textsOf } from '../../domain/texts.ts'
import { stating } from '../../http/facts.ts'
import { returns, summary } from '../../http/route.ts'
import { setPageHeaders } from '../../http/security-headers.ts'
import type { Panel } from '../../panel.ts'
import { type BrowserEnv, browserSession, everybody, guest, offerSession } from './env.ts'
import { presentUser } from './resources/sign-in.ts'
import { documentOf } from './shell.ts'
import assets from './web-assets.json' with { type: 'json' }

/** Pages that the application shows, by the group of texts which says what they are. */
type PageName = 'home' | 'server' | 'account' | 'docs' | 'login' | 'register' | 'forgot' | 'reset'

/** Daemons that are named one by one; of more, a page may talk to every secure address. */
const mostDaemons = 60
const nonceLength = 24

/** Where the widgets of captchas come from. */
const captchaSources = new Map<string, readonly string[]>([
  ['turnstile', ['https://challenges.cloudflare.com']],
  ['hcaptcha', ['https://hcaptcha.com', 'https://*.hcaptcha.com']],
  [
    'recaptcha',
    [
      'https://www.google.com/recaptcha/',
      'https://www.gstatic.com/recaptcha/',
      'https://recaptcha.google.com/recaptcha/',
    ],
  ],
])

/** Guests are sent to where they can sign in, and from there to the page that they wanted. */
const signedInOrLogin = stating(
  { kind: 'permission', name: 'signed in, others go to sign in' },
  createMiddleware<BrowserEnv>(async (c, next) => {
    if (c.var.account) return next()
    const { pathname, search } = new URL(c.req.url)
    const intended = pathname === '/' ? '' : `?${new URLSearchParams({ intended: pathname + search })}`
    return c.redirect(`/auth/login${intended}`, 302)
  }),
)

/** Addresses of the application for whoever is signed in; it tells their pages apart by itself. */
const addresses: readonly (readonly [path: string, summary: string, name: PageName])[] = [
  ['/', 'Show the panel', 'home'],
  ['/server/:server', 'Show the console of a server', 'server'],
  ['/server/:server/:page', 'Show a page about a server', 'server'],
  ['/server/:server/:page/:item', 'Show a page about something of a server', 'server'],
  ['/account', 'Show the page of the account', 'account'],
  ['/account/sign-in', 'Show the page of the ways to sign in', 'account'],
  ['/account/api', 'Show the page of API keys', 'account'],
  ['/account/ssh', 'Show the page of SSH keys', 'account'],
  ['/account/activity', 'Show the page of what the account did', 'account'],
]

/** The pages in which the application starts. Spec: Browser authentication. */
export const pages = new Hono<BrowserEnv>()
  .get('/docs', summary('Show the API reference'), browserSession, everybody, returns(200), (c) =>
    showPage(c, 'docs'),
  )
  .get('/auth/login', summary('Show the page to sign in'), browserSession, guest, returns(200), (c) =>
    showPage(c, 'login'),
  )
  .get(
    '/auth/register',
    summary('Show the page to make an account'),
    browserSession,
    guest,
    returns(200),
    (c) => showPage(c, 'register'),
  )
  .get(
    '/auth/password',
    summary('Show the page for a forgotten password'),
    browserSession,
    guest,
    returns(200),
    (c) => showPage(c, 'forgot'),
  )
  .get(
    '/auth/password/reset/:token',
    summary('Show the page that takes a new password'),
    browserSession,
    guest,
    returns(200),
    (c) => showPage(c, 'reset'),
  )

for (const [path, text, name] of addresses) {
  pages.get(path, summary(text), browserSession, signedInOrLogin, returns(200), (c) => showPage(c, name))
}

async function showPage(c: Context<BrowserEnv>, name: PageName) {
  const { panel, account } = c.var
  const language = localeOf(account?.language ?? 'auto', c.req.header('accept-language'))
  const nonce = randomText(nonceLength)
  const captcha = await shownCaptcha(c)
  const texts = await pageTexts(panel, language, name)
  setPageHeaders(c, panel.config.url, {
    nonce,
    connections: account ? await daemonSources(c) : [],
    embedded: captchaSources.get(captcha.provider) ?? [],
    hasSecretAddress: name === 'reset',
  })
  const globals = {
    ...(account ? { PterodactylUser: presentUser(account) } : {}),
    SiteConfiguration: siteConfiguration(panel.config.name, language, captcha, account),
  }
  const panelName = panel.config.name
  return c.html(documentOf({ ...texts, language, panelName, nonce, csrf: offerSession(c), globals, assets }))
}

type Captcha = { provider: string; siteKey: string }

/** The captcha of forms for guests; nobody else is shown one. */
async function shownCaptcha({ var: { panel, account } }: Context<BrowserEnv>): Promise<Captcha> {
  if (account) return { provider: 'none', siteKey: '' }
  const settings = await settingsOf(panel, ['captcha.provider', 'captcha.site_key'])
  return { provider: settings['captcha.provider'], siteKey: settings['captcha.site_key'] ?? '' }
}

/** `recaptcha` is what clients of the ecosystem know; `captcha` names the other providers too. */
const siteConfiguration = (name: string, locale: Language, captcha: Captcha, account: User | null) => ({
  name,
  locale,
  blur: account?.blurSensitiveData ?? false,
  picture: account?.avatarKey ? `/${account.avatarKey}` : null,
  recaptcha: { enabled: captcha.provider === 'recaptcha', siteKey: captcha.siteKey },
  captcha,
})

/** What names a host in a policy: neither addresses of version 6 nor anything that could end the source. */
const plainOrigin = /^https?:\/\/[a-z\d-]+(\.[a-z\d-]+)*:\d{1,5}$/i

/** Where the consoles and files of the caller's servers are. */
async function daemonSources(c: Context<BrowserEnv>): Promise<string[]> {
  const origins = await reachableDaemons(c.var.panel, mostDaemons)
  if (!origins?.every((origin) => plainOrigin.test(origin))) return ['wss:', 'https:']
  return origins.flatMap((origin) => [origin, origin.replace(/^http/, 'ws')])
}

/** What the page says of itself in this language. */
async function pageTexts(panel: Panel, language: Language, name: PageName) {
  const page = (await textsOf(panel, language, 'auth'))?.page as Texts
  const { title, text } = page[name] as { title: string; text: string }
  return { title, text, noScript: page.no_script as string }
}
