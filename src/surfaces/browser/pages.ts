import { type Context, Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { User } from '../../db/tables/users.ts'
import type { Appearance } from '../../domain/appearance/appearance.ts'
import { type Language, resolveLanguage } from '../../domain/languages.ts'
import { findTranslations, type Translations } from '../../domain/locales/translations.ts'
import { findDaemonOrigin, readSignedInPage } from '../../domain/nodes/daemon-origins.ts'
import { randomText } from '../../domain/secrets.ts'
import { type Captcha, readGuestConfiguration } from '../../domain/setup/guest-configuration.ts'
import { withMetadata } from '../../http/metadata.ts'
import { publicUrl } from '../../http/public-url.ts'
import { noPermission } from '../../http/public-route.ts'
import { returns, summary } from '../../http/route.ts'
import { setPageHeaders } from '../../http/security-headers.ts'
import type { Panel } from '../../panel.ts'
import { type BrowserEnv, browserSession, ensureKnownBrowser, ensureSession, guest } from './middleware.ts'
import { isAtPanelAddress, redirectLoopback } from './page-address.ts'
import { renderDocument } from './page-document.ts'
import { presentAnnouncement } from './resources/announcement.ts'
import { presentUser } from './resources/sign-in.ts'
import assets from './web-assets.json' with { type: 'json' }

/** Pages of the application, named by their group of texts. */
type PageName =
  | 'home'
  | 'server'
  | 'account'
  | 'admin'
  | 'docs'
  | 'login'
  | 'register'
  | 'forgot'
  | 'reset'
  | 'verify'
  | 'setup'
  | 'not_found'

/** Daemons that the policy names; with more of them it allows every secure origin. */
const maxDaemonSources = 60
const nonceLength = 24

/** Sources of the captcha widgets. */
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

/** Requires a signed-in user. Redirects guests to the sign-in page, which returns them here. */
const signedInOrRedirect = withMetadata(
  { kind: 'permission', name: 'signed in, others go to sign in' },
  createMiddleware<BrowserEnv>(async (c, next) => {
    if (c.var.account) return next()
    const { pathname, search } = new URL(c.req.url)
    const intended = pathname === '/' ? '' : `?${new URLSearchParams({ intended: pathname + search })}`
    return c.redirect(`/auth/login${intended}`, 302)
  }),
)

/** Paths of the application for signed-in users; it routes them itself. */
const pageRoutes: readonly (readonly [path: string, summary: string, name: PageName])[] = [
  ['/', 'Show the home page', 'home'],
  ['/server/:server', 'Show the console page of a server', 'server'],
  ['/server/:server/:page', 'Show a page of a server', 'server'],
  ['/server/:server/:page/:item', 'Show a page of an item of a server', 'server'],
  ['/account', 'Show the account page', 'account'],
  ['/account/sign-in', 'Show the sign-in methods page', 'account'],
  ['/account/api', 'Show the API keys page', 'account'],
  ['/account/ssh', 'Show the SSH keys page', 'account'],
  ['/account/activity', 'Show the account activity page', 'account'],
  ['/admin', 'Show the overview page of administrators', 'admin'],
  ['/admin/:section', 'Show a list page of administrators', 'admin'],
  ['/admin/:section/:item', 'Show a page of a resource of administrators', 'admin'],
  ['/admin/:section/:item/:page', 'Show a part of a resource of administrators', 'admin'],
  ['/account/verify-email/:token', 'Show the e-mail verification page', 'verify'],
]

/** The pages in which the application starts. Spec: docs/accounts.md#sign-in. */
export const pages = new Hono<BrowserEnv>()
  .get(
    '/docs',
    summary('Show the API reference'),
    redirectLoopback,
    browserSession,
    noPermission,
    returns(200),
    (c) => showPage(c, 'docs'),
  )
  .get(
    '/auth/login',
    summary('Show the sign-in page'),
    redirectLoopback,
    browserSession,
    guest,
    returns(200),
    (c) => showPage(c, 'login'),
  )
  .get(
    '/auth/setup',
    summary('Show the set-up page'),
    redirectLoopback,
    browserSession,
    noPermission,
    returns(200),
    (c) => showPage(c, 'setup'),
  )
  .get(
    '/auth/register',
    summary('Show the registration page'),
    redirectLoopback,
    browserSession,
    guest,
    returns(200),
    (c) => showPage(c, 'register'),
  )
  .get(
    '/auth/password',
    summary('Show the forgotten password page'),
    redirectLoopback,
    browserSession,
    guest,
    returns(200),
    (c) => showPage(c, 'forgot'),
  )
  .get(
    '/auth/password/reset/:token',
    summary('Show the password reset page'),
    redirectLoopback,
    browserSession,
    guest,
    returns(200),
    (c) => showPage(c, 'reset'),
  )

for (const [path, text, name] of pageRoutes) {
  pages.get(path, summary(text), redirectLoopback, browserSession, signedInOrRedirect, returns(200), (c) =>
    showPage(c, name),
  )
}

/** Returns who acts for the user in this session, and until when; nothing in a session of the user's own. */
function actingOf({ var: { panel, session } }: Context<BrowserEnv>) {
  const administrator = panel.actor.kind === 'user' ? panel.actor.administrator : undefined
  if (!administrator || !session) return {}
  return { acting: { administrator: administrator.username, until: session.expiresAt.toISOString() } }
}

/** Answers with the document in which the application shows the page. */
export async function showPage(c: Context<BrowserEnv>, name: PageName, status: 200 | 404 = 200) {
  const { panel, account } = c.var
  const language = resolveLanguage(account?.language ?? 'auto', c.req.header('accept-language'))
  const nonce = randomText(nonceLength)
  await ensureKnownBrowser(c)
  const page = await findSiteConfiguration(c)
  const { panelName, appearance, announcements, captcha, isSetupDue, daemonOrigins } = page
  const { otherAddress, ...texts } = await pageTexts(panel, language, name)
  const isElsewhere = !isAtPanelAddress(c.req.url, panel.config.url)
  setPageHeaders(c, panel.config.url, {
    nonce,
    connectSources: await daemonSources(c, daemonOrigins),
    embedSources: captchaSources.get(captcha.provider) ?? [],
    hasSecretUrl: name === 'reset' || name === 'verify',
  })
  const isHome = name === 'home'
  const acting = actingOf(c)
  const globals = {
    ...(account ? { PterodactylUser: presentUser(account) } : {}),
    SiteConfiguration: {
      ...siteConfiguration(panelName, language, captcha, account, isSetupDue),
      ...(appearance.logo ? { logo: appearance.logo } : {}),
      ...(appearance.links.length > 0 ? { links: appearance.links } : {}),
      ...(announcements.length > 0 ? { announcements: announcements.map(presentAnnouncement) } : {}),
      ...callerConfiguration(c),
      ...acting,
    },
  }
  return c.html(
    renderDocument({
      ...texts,
      language,
      panelName,
      icon: appearance.logo?.light ?? null,
      ...(await coloursOf(appearance)),
      nonce,
      csrf: ensureSession(c),
      globals,
      assets: isHome ? { ...assets, preloads: [...assets.preloads, ...assets.home] } : assets,
      // With filters the list is another one, and who acts for a user asks so that the browser keeps nothing.
      requests: isHome && !c.req.url.includes('?') && !('acting' in acting) ? homeRequests(language) : [],
      address: isElsewhere ? { ...otherAddress, origin: panel.config.url, url: publicUrl(c) } : null,
    }),
    status,
  )
}

/** Returns the requests with which the home page begins: they need not wait for its code. */
const homeRequests = (language: Language) => [
  `/locales/locale.json?locale=${language}&namespace=home+server+strings`,
  '/api/client/servers?type=accessible&sort=-state%2Cname&page=1&per_page=100',
  '/api/client/account/servers/folders',
]

/**
 * Finds the name of the panel; for guests the captcha, and whether the panel has to be set up; for users their
 * announcements and daemons.
 */
async function findSiteConfiguration(c: Context<BrowserEnv>) {
  const { panel, account } = c.var
  if (!account) return { ...(await readGuestConfiguration(panel)), announcements: [], daemonOrigins: [] }
  const page = await readSignedInPage(panel, { readsNodes: readsNodes(c), maxOrigins: maxDaemonSources })
  return { ...page, captcha: { provider: 'none', siteKey: '' }, isSetupDue: false }
}

/** Returns the style sheet of an accent colour, and the colour of the icon; few panels have one. */
async function coloursOf({ accent }: Appearance): Promise<{ style: string | null; iconColour: string }> {
  if (accent === null) return { style: null, iconColour: '#0c6b58' }
  const { accentStyle, deriveAccent } = await import('../../domain/appearance/accent.ts')
  return { style: accentStyle(accent), iconColour: deriveAccent(accent).light.brand }
}

/**
 * Returns the levels of an administrator; for guests whether mails, which do not leave this panel, are stored for its
 * administrators, who then pass links on.
 */
function callerConfiguration({ var: { account, acl, panel } }: Context<BrowserEnv>) {
  if (account) return acl ? { acl } : {}
  return panel.config.sendsMail ? {} : { mail: panel.mail.outbox ? 'stored' : 'none' }
}

/** Builds what the application starts with: `recaptcha` for clients of the ecosystem, `captcha` for every provider. */
const siteConfiguration = (
  name: string,
  locale: Language,
  captcha: Captcha,
  account: User | null,
  isSetupDue: boolean,
) => ({
  name,
  locale,
  blur: account?.blurSensitiveData ?? false,
  picture: account?.avatarKey ? `/${account.avatarKey}` : null,
  recaptcha: { enabled: captcha.provider === 'recaptcha', siteKey: captcha.siteKey },
  captcha,
  setup: { isDue: isSetupDue },
})

/** Origins that a policy can name: no IPv6 addresses, and nothing that could end the source. */
const originPattern = /^https?:\/\/[a-z\d-]+(\.[a-z\d-]+)*:\d{1,5}$/i

/** Lists the policy sources of daemons. Where it cannot name all, it names the one that a page of administrators is about. */
async function daemonSources(c: Context<BrowserEnv>, origins: string[] | null): Promise<string[]> {
  if (!origins?.every((origin) => originPattern.test(origin))) {
    const own = readsNodes(c) ? await findDaemonOrigin(c.var.panel, shownNodeId(c)) : null
    return ['wss:', 'https:', ...(own !== null && originPattern.test(own) ? [own] : [])]
  }
  return origins.flatMap((origin) => [origin, origin.replace(/^http/, 'ws')])
}

/** Whether the caller is an administrator who may read nodes. */
const readsNodes = (c: Context<BrowserEnv>): boolean => ((c.var.acl?.nodes ?? 0) & 1) === 1

/** Returns the id of the node that a page of administrators is about; 0 for other pages. */
function shownNodeId(c: Context<BrowserEnv>): number {
  const { section, item = '' } = c.req.param() as { section?: string; item?: string }
  return section === 'nodes' && /^[1-9]\d{0,8}$/.test(item) ? Number(item) : 0
}

/** Reads title and description of a page in this language, and the texts for a page at another address. */
async function pageTexts(panel: Panel, language: Language, name: PageName) {
  const page = (await findTranslations(panel, language, 'auth'))?.page as Translations
  const { title, text } = page[name] as { title: string; text: string }
  const otherAddress = page.other_address as { title: string; text: string }
  return { title, text, noScript: page.no_script as string, otherAddress }
}
