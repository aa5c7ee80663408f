import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import { fetchRouted } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { makeAccount } from './panel-fixtures.ts'
import type { Account } from './player.ts'
import type { Screen, ScreenData } from './screens.ts'

/** Who may only see the console of the demo server, and who has no server at all. */
export type StateAccounts = Record<'guestOfServer' | 'newcomer', Account>

const longName =
  `The very long name of a server whose owner has written down ${'every mod it has, '.repeat(6)}`.slice(
    0,
    190,
  )
/** A name that no line can break. */
const unbrokenName = 'Survival-multiplayer-with-every-mod-there-is-'.repeat(4)

/** Creates the accounts of `newcomerScreens` and `guestOfServerScreens`. */
export async function seedStates(panel: PanelProcess): Promise<StateAccounts> {
  const newcomer = await makeAccount(panel, 'newcomer')
  const guestOfServer = await makeAccount(panel, 'watcher')
  const invited = await panel.asPlayer('POST', `/servers/${panel.bootstrap.server.identifier}/users`, {
    email: guestOfServer.email,
    permissions: ['websocket.connect', 'control.console'],
  })
  expect(invited.status, JSON.stringify(invited.body)).toBe(200)
  return { newcomer, guestOfServer }
}

/** The start page of a user without servers. */
export const newcomerScreens: Screen[] = [{ name: 'state-empty', path: '/', shows: 'You have no servers' }]

/** What a subuser sees who may only use the console. */
export const guestOfServerScreens = ({ server }: ScreenData): Screen[] => [
  { name: 'state-few-permissions', path: `/server/${server}`, shows: 'Live' },
  { name: 'state-no-permission', path: `/server/${server}/files`, shows: /permission/i },
]

/**
 * What a player sees in states that pass. Each lasts until the next screen is opened and leaves the panel as it was; the
 * last one leaves the browser without a network.
 */
export const stateScreens = ({ server }: ScreenData): Screen[] => [
  ...statesOfHome,
  { name: 'state-right-to-left', path: '/', shows: 'Demo server', act: turnRightToLeft },
  {
    name: 'state-right-to-left-server',
    path: `/server/${server}/backups`,
    shows: 'Before the update',
    act: turnRightToLeft,
  },
  renamed('state-long-name', longName, '/'),
  renamed('state-unbroken-name', unbrokenName, `/server/${server}`),
  ...Object.entries(blocks).map(([name, block]) => blocked(server, name, block)),
  ...statesOfConnection(server),
]

/** States that pass too quickly here to be looked at: what the panel would say of the server, and what shows it. */
export const blocks: Record<string, { change: object; shows: string }> = {
  suspended: {
    change: { status: 'suspended', is_suspended: true },
    shows: 'An administrator has suspended this server.',
  },
  installing: {
    change: { status: 'installing', is_installing: true },
    shows: 'This page updates when it is done.',
  },
  'install-failed': {
    change: { status: 'install_failed', is_installing: true },
    shows: 'The installation has failed.',
  },
  restoring: { change: { status: 'restoring_backup' }, shows: 'A backup is being restored.' },
  transferring: { change: { is_transferring: true }, shows: 'transferred to another node' },
  maintenance: {
    change: { is_node_under_maintenance: true },
    shows: 'The node of this server is under maintenance.',
  },
}

/** Answers with the server, of which this is otherwise. */
export async function answerChanged(route: Route, change: object): Promise<void> {
  const answer = await fetchRouted(route)
  const { attributes, ...more } = await answer.json()
  await route.fulfill({ json: { ...more, attributes: { ...attributes, ...change } } })
}

/** Answers since when the server is blocked. */
const answerSince = (route: Route) =>
  route.fulfill({
    json: {
      object: 'server_conflict',
      attributes: {
        conflict: 'suspended',
        since: new Date(Date.now() - 25 * 60_000).toISOString(),
        node_down_since: new Date(Date.now() - 5 * 60_000).toISOString(),
      },
    },
  })

/** The page from which the others open a page whose answers are then not those of the panel. */
const start = { path: '/account', shows: 'Change password' }

/** The page of the console of a server that is blocked. */
const blocked = (server: string, name: string, { change, shows }: (typeof blocks)[string]): Screen => ({
  name: `state-${name}`,
  ...start,
  act: async (page) => {
    await page.route(`**/api/client/servers/${server}`, (route) => answerChanged(route, change))
    await page.route(`**/api/client/servers/${server}/conflict`, answerSince)
    await page.goto(`/server/${server}`)
    // Its code comes after the page.
    if (name === 'install-failed') await page.getByRole('button', { name: 'Install again' }).waitFor()
  },
  state: (page) => page.getByText(shows),
})

/** A page on which the demo server has another name. */
const renamed = (name: string, to: string, path: string): Screen => ({
  name,
  ...start,
  act: async (page) => {
    await page.route(/\/api\/client\/servers\b/, async (route) => {
      const response = await fetchRouted(route)
      await route.fulfill({ response, body: (await response.text()).replaceAll('Demo server', to) })
    })
    await page.goto(path)
  },
  state: (page) => page.getByText(to).filter({ visible: true }).first(),
})

/** None of the languages is written from right to left; the layout must not depend on that. */
async function turnRightToLeft(page: Page): Promise<void> {
  await page.evaluate(() => (document.documentElement.dir = 'rtl'))
}

/** Opens a page after the requests to these addresses get this answer, or none. */
const openWhile = (path: string, addresses: string[], answer?: { status: number }) => async (page: Page) => {
  for (const address of addresses)
    await page.route(address, (route) => answer && route.fulfill({ ...answer, json: { errors: [] } }))
  // A first visit has no list to show meanwhile.
  await page.evaluate(() => localStorage.removeItem('roost.last-list'))
  await page.goto(path)
}

const listOfServers = ['**/api/client/servers?*']

/** The start page while the panel does not answer with the servers, and while it fails. */
const statesOfHome: Screen[] = [
  {
    name: 'state-loading',
    ...start,
    act: openWhile('/', listOfServers),
    state: (page) => page.getByRole('status', { name: 'Loading' }).first(),
  },
  {
    name: 'state-error',
    ...start,
    act: openWhile('/', listOfServers, { status: 500 }),
    state: (page) => page.getByRole('button', { name: 'Try again' }),
    // The document asks for the list before the scripts do.
    expects: /^request: 500 \S+\/api\/client\/servers\?/,
  },
]

/**
 * The page of a server whose live connection the panel refuses, of one whose node neither the browser nor the panel
 * reaches, and one in a browser that has lost its network.
 */
const statesOfConnection = (server: string): Screen[] => [
  {
    name: 'state-refused',
    ...start,
    act: openWhile(`/server/${server}`, [`**/servers/${server}/websocket`], { status: 403 }),
    state: (page) => page.getByText('The live connection was refused'),
  },
  {
    name: 'state-unreachable',
    ...start,
    act: async (page) => {
      await page.route(`**/servers/${server}/conflict`, answerSince)
      const addresses = [`**/servers/${server}/websocket`, '**/servers/resources?*']
      await openWhile(`/server/${server}`, addresses, { status: 502 })(page)
    },
    state: (page) => page.getByRole('heading', { name: 'Node unreachable' }),
  },
  {
    name: 'state-offline',
    path: `/server/${server}/backups`,
    shows: 'Before the update',
    act: async (page) => {
      await page.reload()
      await page.getByText('Before the update').filter({ visible: true }).first().waitFor()
      await page.context().setOffline(true)
    },
    state: (page) => page.getByText('You are offline'),
    expects: /^request: .+ net::ERR_INTERNET_DISCONNECTED$/,
  },
]
