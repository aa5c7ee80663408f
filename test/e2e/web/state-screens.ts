import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'
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

/** What a player sees in states that pass: each leaves the panel as it was, and the last one the browser without a network. */
export const stateScreens = (panel: PanelProcess, { server }: ScreenData): Screen[] => [
  { name: 'state-loading', path: '/account', shows: 'Change password', act: openHomeThatWaits },
  { name: 'state-error', path: '/account', shows: 'Change password', act: openHomeThatFails },
  { name: 'state-right-to-left', path: '/', shows: 'Demo server', act: turnRightToLeft },
  {
    name: 'state-right-to-left-server',
    path: `/server/${server}/backups`,
    shows: 'Before the update',
    act: turnRightToLeft,
  },
  {
    name: 'state-long-name',
    path: '/account',
    shows: 'Change password',
    act: openRenamed(panel, longName, '/'),
  },
  {
    name: 'state-unbroken-name',
    path: '/account',
    shows: 'Change password',
    act: openRenamed(panel, unbrokenName, `/server/${server}`),
  },
  ...Object.entries(blocks).map(([name, { shows }]) => ({
    name: `state-${name}`,
    path: '/account',
    shows: 'Change password',
    act: async (page: Page) => {
      await page.route(`**/api/client/servers/${server}`, answerBlocked)
      await page.route(`**/api/client/servers/${server}/conflict`, answerSince)
      await page.goto(`/server/${server}#${name}`)
      await page.getByText(shows).waitFor()
      // Its code comes after the page.
      if (name === 'install-failed') await page.getByRole('button', { name: 'Install again' }).waitFor()
    },
  })),
  { name: 'state-refused', path: '/account', shows: 'Change password', act: openRefused(server) },
  { name: 'state-unreachable', path: '/account', shows: 'Change password', act: openUnreachable(server) },
  {
    name: 'state-offline',
    path: `/server/${server}/backups`,
    shows: 'Before the update',
    act: async (page) => {
      await page.reload()
      await page.getByText('Before the update').filter({ visible: true }).first().waitFor()
      await page.context().setOffline(true)
      await page.getByText('You are offline').waitFor()
    },
  },
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

/** Answers with the server in the state that the address of the page names, and as it is elsewhere. */
async function answerBlocked(route: Route): Promise<void> {
  const block = blocks[new URL(route.request().frame().url()).hash.slice(1)]
  await (block ? answerChanged(route, block.change) : route.fallback())
}

/** Answers with the server, of which this is otherwise. */
export async function answerChanged(route: Route, change: object): Promise<void> {
  const answer = await route.fetch()
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

const listOfServers = '**/api/client/servers?*'

/** Opens the start page while the panel does not answer with the servers. */
async function openHomeThatWaits(page: Page): Promise<void> {
  await page.route(listOfServers, () => undefined)
  await page.goto('/')
  await page.getByRole('status', { name: 'Loading' }).first().waitFor()
  await page.unroute(listOfServers)
}

/** Opens the start page while the panel fails. */
async function openHomeThatFails(page: Page): Promise<void> {
  await page.route(listOfServers, (route) => route.fulfill({ status: 500, json: { errors: [] } }))
  await page.goto('/')
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  await page.unroute(listOfServers)
}

/** None of the languages is written from right to left; the layout must not depend on that. */
async function turnRightToLeft(page: Page): Promise<void> {
  await page.evaluate(() => (document.documentElement.dir = 'rtl'))
}

const openRenamed = (panel: PanelProcess, name: string, path: string) => async (page: Page) => {
  const about = `/servers/${panel.bootstrap.server.identifier}`
  const { body } = await panel.asPlayer('GET', about)
  const rename = (to: string) => panel.asPlayer('POST', `${about}/settings/rename`, { name: to })
  expect((await rename(name)).status).toBe(204)
  await page.goto(path)
  await page.getByText(name).filter({ visible: true }).first().waitFor()
  await rename(body.attributes.name)
}

/** Opens the console of a server to which the panel refuses the live connection. */
const openRefused = (server: string) => async (page: Page) => {
  const address = `**/servers/${server}/websocket`
  await page.route(address, (route) => route.fulfill({ status: 403, json: { errors: [] } }))
  await page.goto(`/server/${server}`)
  await page.getByText('The live connection was refused').waitFor()
  await page.unroute(address)
}

/** Opens the console of a server whose node neither the browser nor the panel reaches. */
const openUnreachable = (server: string) => async (page: Page) => {
  const addresses = [`**/servers/${server}/websocket`, '**/servers/resources?*']
  for (const address of addresses)
    await page.route(address, (route) => route.fulfill({ status: 502, json: { errors: [] } }))
  await page.route(`**/servers/${server}/conflict`, answerSince)
  await page.goto(`/server/${server}`)
  await page.getByRole('heading', { name: 'Node unreachable' }).waitFor()
  for (const address of addresses) await page.unroute(address)
}
