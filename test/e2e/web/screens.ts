import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { PanelProcess } from '../../support/panel-process.ts'
import { eventually } from '../../support/processes.ts'
import { moveInScreens } from './move-in-screens.ts'

/** A page of the application, and what shows that its data is loaded. */
export type Screen = {
  name: string
  path: string
  /** A text that only the loaded page shows. */
  shows: string | RegExp
  /** Opens what does not show by itself. */
  act?: (page: Page) => Promise<void>
  /** What shows the state that the page is then in, for as long as it is looked at. */
  state?: (page: Page) => Locator
  /** The problems of a tab that belong to the state. */
  expects?: RegExp
}

export const viewports = [
  { name: 'phone', width: 360, height: 740 },
  { name: 'laptop', width: 1366, height: 650 },
  { name: 'desktop', width: 1440, height: 900 },
  { name: 'monitor', width: 1920, height: 1080 },
] as const
export const themes = ['light', 'dark'] as const

/** The screens of guests. */
export const guestScreens: Screen[] = [
  { name: 'sign-in', path: '/auth/login', shows: 'Username or e-mail address' },
  { name: 'register', path: '/auth/register', shows: 'Create account' },
  { name: 'forgotten-password', path: '/auth/password', shows: 'Send link' },
  {
    name: 'new-password',
    path: `/auth/password/reset/${'a'.repeat(64)}?email=a@b.example`,
    shows: 'New password',
  },
  { name: 'api-reference', path: '/docs', shows: 'List your servers' },
  { name: 'not-found', path: '/nothing/here', shows: 'There is no page at this address.' },
]

/** The screens of a user with a server. */
export function playerScreens({ server, schedule }: ScreenData): Screen[] {
  const about = (page: string) => `/server/${server}${page}`
  return [
    { name: 'servers', path: '/', shows: 'Demo server' },
    { name: 'announcements', path: '/', shows: 'Maintenance on Sunday' },
    { name: 'not-found-signed-in', path: '/nothing/here', shows: 'There is no page at this address.' },
    {
      name: 'console',
      path: about(''),
      shows: 'Live',
      // The terminal's code comes after the page.
      act: (page) => page.locator('.xterm-screen').waitFor(),
    },
    {
      name: 'console-filter',
      path: about(''),
      shows: 'Live',
      act: async (page) => {
        await page.locator('.xterm-screen').waitFor()
        await page.getByRole('button', { name: 'Filter by level' }).click()
        await page.getByRole('button', { name: 'Next error' }).waitFor()
      },
    },
    {
      name: 'console-commands',
      path: about(''),
      shows: 'Live',
      act: async (page) => {
        await page.getByRole('button', { name: 'Commands' }).click()
        await page.getByRole('dialog', { name: 'Commands' }).waitFor()
        await page.getByText('Nothing saved yet').waitFor()
      },
    },
    { name: 'usage', path: about('/usage'), shows: /Received|No usage in this period/ },
    { name: 'files', path: about('/files'), shows: 'notes.txt' },
    {
      name: 'editor',
      path: `${about('/files/edit')}?file=${encodeURIComponent('/notes.txt')}`,
      shows: 'Second line',
    },
    { name: 'files-search', path: about('/files'), shows: 'notes.txt', act: searchFolders },
    {
      name: 'editor-problem',
      path: `${about('/files/edit')}?file=${encodeURIComponent('/plugins/config.yml')}`,
      shows: 'motd',
      act: async (page) => {
        await page.getByRole('button', { name: 'Check for errors' }).click()
        await page.getByText('Map keys must be unique').waitFor()
      },
    },
    {
      name: 'archive',
      path: `${about('/files/edit')}?file=${encodeURIComponent('/plugins.tar.gz')}`,
      shows: 'plugins/config.yml',
    },
    { name: 'trash', path: about('/trash'), shows: 'old.txt' },
    { name: 'databases', path: about('/databases'), shows: 'There are no databases.' },
    { name: 'schedules', path: about('/schedules'), shows: 'Nightly restart' },
    { name: 'schedule', path: about(`/schedules/${schedule}`), shows: 'say restarting' },
    {
      name: 'schedule-template',
      path: about('/schedules'),
      shows: 'Nightly restart',
      act: async (page) => {
        await page.getByRole('button', { name: 'Create schedule' }).click()
        await page.getByLabel('Start from').selectOption('Nightly restart')
        await page.getByText('Warns players twice').waitFor()
      },
    },
    { name: 'users', path: about('/users'), shows: 'friend@roost.example' },
    { name: 'backups', path: about('/backups'), shows: 'Before the update' },
    {
      name: 'restore',
      path: about('/backups'),
      shows: 'Before the update',
      act: async (page) => {
        await page.getByRole('button', { name: 'Actions for Before the update' }).click()
        await page.getByRole('menuitem', { name: 'Restore' }).click()
        await page.getByText('What will be lost').waitFor()
      },
    },
    { name: 'network', path: about('/network'), shows: 'Primary' },
    { name: 'startup', path: about('/startup'), shows: 'Message of the day' },
    {
      name: 'notifications',
      // The panel covers buttons until another page is opened.
      path: about('/startup'),
      shows: 'Message of the day',
      act: async (page) => {
        await page.getByRole('button', { name: /^Notifications/ }).click()
        await page.getByText('E-mail notifications').waitFor()
      },
    },
    { name: 'settings', path: about('/settings'), shows: 'Reinstall server' },
    { name: 'activity', path: about('/activity'), shows: 'friend@roost.example' },
    // The tray stays until the page is loaded anew.
    { name: 'files-chosen-and-tray', path: about('/files'), shows: 'notes.txt', act: chooseAndUpload },
    { name: 'account', path: '/account', shows: 'Change password' },
    {
      name: 'verify-email',
      path: `/account/verify-email/${'a'.repeat(43)}`,
      shows: 'You are signed in as',
    },
    { name: 'account-sign-in', path: '/account/sign-in', shows: 'Passkeys' },
    { name: 'account-api', path: '/account/api', shows: 'For the bot' },
    { name: 'account-ssh', path: '/account/ssh', shows: 'laptop' },
    { name: 'account-activity', path: '/account/activity', shows: 'Download CSV' },
    { name: 'servers-favourites', path: '/?place=favourites', shows: 'No favourites yet' },
    { name: 'servers-nothing-found', path: '/?state=stopping', shows: 'No servers match' },
    {
      name: 'servers-selected',
      path: '/',
      shows: 'Demo server',
      act: async (page) => {
        await page.getByRole('button', { name: 'Select several servers' }).click()
        await page.getByRole('checkbox', { name: 'Select Demo server' }).check()
        await page.getByText('1 selected').waitFor()
      },
    },
    {
      name: 'servers-cards',
      path: '/',
      shows: 'Demo server',
      // Phones have cards alone.
      act: async (page) => {
        const cards = page.getByRole('button', { name: 'Cards' })
        if (await cards.isVisible()) await cards.click()
        await page.getByRole('list', { name: 'Servers' }).waitFor()
      },
    },
  ]
}

/** The screens of an administrator. */
export const adminScreens: Screen[] = [
  { name: 'admin-overview', path: '/admin', shows: 'Newest events' },
  { name: 'admin-setup-panel', path: '/admin/setup', shows: 'How it presents itself' },
  { name: 'admin-setup-mail', path: '/admin/setup/mail', shows: 'Name of the sender' },
  { name: 'admin-setup-location', path: '/admin/setup/location', shows: 'This machine' },
  { name: 'admin-setup-node', path: '/admin/setup/node', shows: 'local answers' },
  { name: 'admin-setup-allocations', path: '/admin/setup/allocations', shows: '11 addresses are ready' },
  { name: 'admin-setup-game', path: '/admin/setup/game', shows: 'Paper' },
  { name: 'admin-setup-server', path: '/admin/setup/server', shows: 'Demo server has been created' },
  { name: 'admin-servers', path: '/admin/servers', shows: 'Demo server' },
  {
    name: 'admin-servers-chosen',
    path: '/admin/servers',
    shows: 'Demo server',
    act: (page) => page.getByRole('checkbox', { name: 'Choose Demo server' }).check(),
  },
  { name: 'admin-bulk-operations', path: '/admin/bulk-operations', shows: 'Lift suspension' },
  { name: 'admin-bulk-operation', path: '/admin/bulk-operations/1', shows: 'The resource was not found.' },
  { name: 'admin-new-server', path: '/admin/servers/new', shows: 'Placement' },
  { name: 'admin-server', path: '/admin/servers/1', shows: 'At a glance' },
  { name: 'admin-server-build', path: '/admin/servers/1/build', shows: 'Allocations' },
  { name: 'admin-server-startup', path: '/admin/servers/1/startup', shows: 'Command as it runs' },
  {
    name: 'admin-server-databases',
    path: '/admin/servers/1/databases',
    shows: 'This server has no databases',
  },
  { name: 'admin-server-usage', path: '/admin/servers/1/usage', shows: /Received|No usage in this period/ },
  { name: 'admin-server-notes', path: '/admin/servers/1/notes', shows: 'its users do not see them' },
  { name: 'admin-server-transfer', path: '/admin/servers/1/transfer', shows: 'Transfer to another node' },
  { name: 'admin-server-manage', path: '/admin/servers/1/manage', shows: 'Force delete' },
  { name: 'admin-nodes', path: '/admin/nodes', shows: 'local' },
  { name: 'admin-new-node', path: '/admin/nodes/new', shows: 'Capacity' },
  { name: 'admin-node', path: '/admin/nodes/1', shows: 'At a glance' },
  { name: 'admin-node-settings', path: '/admin/nodes/1/settings', shows: 'Capacity' },
  { name: 'admin-node-servers', path: '/admin/nodes/1/servers', shows: 'Demo server' },
  { name: 'admin-node-doctor', path: '/admin/nodes/1/doctor', shows: 'This browser reaches the node.' },
  { name: 'admin-node-allocations', path: '/admin/nodes/1/allocations', shows: 'Demo server' },
  {
    name: 'admin-node-usage',
    path: '/admin/nodes/1/usage',
    shows: /Running servers|No usage in this period/,
  },
  { name: 'admin-node-configuration', path: '/admin/nodes/1/configuration', shows: 'Configuration file' },
  { name: 'admin-node-manage', path: '/admin/nodes/1/manage', shows: 'Delete node' },
  { name: 'admin-locations', path: '/admin/locations', shows: 'local' },
  { name: 'admin-nests', path: '/admin/nests', shows: 'Demo' },
  { name: 'admin-egg', path: '/admin/nests/1/1', shows: 'Install script' },
  { name: 'admin-egg-import', path: '/admin/nests', shows: 'Demo', act: compareDemoEgg },
  { name: 'admin-users', path: '/admin/users', shows: 'player' },
  { name: 'admin-user', path: '/admin/users/2', shows: 'First name' },
  { name: 'admin-new-user', path: '/admin/users/new', shows: 'First name' },
  { name: 'admin-user-servers', path: '/admin/users/2/servers', shows: 'Demo server' },
  { name: 'admin-user-access', path: '/admin/users/2/access', shows: 'For the bot' },
  { name: 'admin-user-manage', path: '/admin/users/2/manage', shows: 'Delete user' },
  { name: 'admin-roles', path: '/admin/roles', shows: 'No roles yet' },
  { name: 'admin-keys', path: '/admin/keys', shows: 'Full access' },
  { name: 'admin-database-hosts', path: '/admin/database-hosts', shows: 'No database hosts yet' },
  { name: 'admin-mounts', path: '/admin/mounts', shows: 'Shared maps' },
  { name: 'admin-mount', path: '/admin/mounts/1', shows: 'Servers with this mount' },
  { name: 'admin-server-mounts', path: '/admin/servers/1/mounts', shows: 'Shared maps' },
  { name: 'admin-announcements', path: '/admin/announcements', shows: 'Maintenance on Sunday' },
  { name: 'admin-announcement', path: '/admin/announcements/1', shows: 'What users see' },
  {
    name: 'admin-new-announcement',
    path: '/admin/announcements',
    shows: 'Maintenance on Sunday',
    act: async (page) => {
      await page.getByRole('button', { name: 'Create announcement' }).click()
      await page.getByText('What users see').waitFor()
    },
  },
  { name: 'admin-jobs', path: '/admin/jobs', shows: /in total/ },
  { name: 'admin-activity', path: '/admin/activity', shows: 'CSV' },
  { name: 'admin-appearance', path: '/admin/settings/appearance', shows: 'Preview' },
  { name: 'admin-settings-first', path: '/admin/settings', shows: 'Fields left empty use their default.' },
  { name: 'admin-settings', path: '/admin/settings/sign_in', shows: 'sign_in.password' },
  ...moveInScreens,
]

/** Searches the folders below for a name. */
async function searchFolders(page: Page): Promise<void> {
  await page.getByRole('searchbox', { name: 'Filter by name' }).fill('config')
  await page.getByRole('button', { name: 'Search subfolders' }).click()
  await page.getByText('The search is complete.').waitFor()
}

/** Chooses an entry of the folder and uploads a file. */
async function chooseAndUpload(page: Page): Promise<void> {
  await page.getByRole('checkbox', { name: 'Select notes.txt' }).check()
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Drop files or folders here, or choose files' }).click()
  const buffer = Buffer.from('Uploaded')
  await (await chooser).setFiles([{ name: `upload-${Date.now()}.txt`, mimeType: 'text/plain', buffer }])
  await page.getByText('All uploads are complete').waitFor()
}

/** Compares the demo's egg, as it would be with another command, with the one of the panel. */
async function compareDemoEgg(page: Page): Promise<void> {
  const document = await page.evaluate(async () => {
    const answer = await fetch('/api/application/nests/1/eggs/1/export')
    const egg = (await answer.json()) as { startup: string; docker_images: Record<string, string> }
    return { ...egg, startup: `${egg.startup} --quiet`, docker_images: { 'Node.js 26': 'node:26-alpine' } }
  })
  await page
    .getByRole('button', { name: /^Import eggs into/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Or paste an egg').fill(JSON.stringify(document))
  await dialog.getByRole('button', { name: 'Compare', exact: true }).click()
  await dialog.getByText('--quiet').waitFor()
}

export type ScreenData = { server: string; schedule: number }

const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f laptop'

/** Adds a mount that the demo server has. */
async function addMount(panel: PanelProcess): Promise<void> {
  const { id } = panel.bootstrap.server
  const { egg, node } = (await panel.asAdmin('GET', `/servers/${id}`)).body.attributes
  const paths = { source: '/mnt/maps', target: '/home/container/maps' }
  const input = { name: 'Shared maps', ...paths, eggs: [egg], nodes: [node] }
  const added = await panel.asAdmin('POST', '/mounts', input)
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  await panel.asAdmin('POST', `/servers/${id}/mounts`, { mount: added.body.attributes.id })
}

/** Adds an announcement for the node of the demo server. */
async function addAnnouncement(panel: PanelProcess): Promise<void> {
  const { node } = (await panel.asAdmin('GET', `/servers/${panel.bootstrap.server.id}`)).body.attributes
  const body = '**Servers restart** at 4 o’clock.\n\nMore on the [status page](https://status.example.com).'
  const places = { audience: 'servers', nodes: [node] }
  const input = { title: 'Maintenance on Sunday', level: 'maintenance', body, ...places }
  const added = await panel.asAdmin('POST', '/announcements', input)
  expect(added.status, JSON.stringify(added.body)).toBe(201)
}

/** Starts the demo server and adds data for every screen. Call it once per panel. */
export async function seedScreens(panel: PanelProcess): Promise<ScreenData> {
  const { identifier, id } = panel.bootstrap.server
  const about = `/servers/${identifier}`
  const must = async (method: string, path: string, body?: unknown) => {
    const answer = await panel.asPlayer(method, path, body)
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
    return answer.body
  }
  const registration = await panel.asAdmin('PATCH', '/settings', { sign_in: { registration: true } })
  expect(registration.status, JSON.stringify(registration.body)).toBe(200)
  const build = await panel.asAdmin('GET', `/servers/${id}`)
  const { allocation, limits } = build.body.attributes
  const changed = await panel.asAdmin('PATCH', `/servers/${id}/build`, {
    allocation,
    ...limits,
    feature_limits: { databases: 2, allocations: 3, backups: 3 },
  })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  await addMount(panel)
  await addAnnouncement(panel)
  await must('POST', `${about}/power`, { signal: 'start' })
  await writeFile(panel, identifier, '/notes.txt', 'First line\nSecond line\n')
  await writeFile(panel, identifier, '/old.txt', 'No longer needed\n')
  await must('POST', `${about}/files/create-folder`, { root: '/', name: 'plugins' })
  await writeFile(panel, identifier, '/plugins/config.yml', 'motd: Welcome\nslots: 20\nslots: 40\n')
  const packed = await must('POST', `${about}/files/compress`, { root: '/', files: ['plugins'] })
  const archive = { from: packed.attributes.name, to: 'plugins.tar.gz' }
  await must('PUT', `${about}/files/rename`, { root: '/', files: [archive] })
  await must('POST', `${about}/trash`, { root: '/', files: ['old.txt'] })
  await must('POST', `${about}/backups`, { name: 'Before the update' })
  const cron = { minute: '0', hour: '4', day_of_month: '*', month: '*', day_of_week: '*' }
  const schedule = await must('POST', `${about}/schedules`, {
    name: 'Nightly restart',
    ...cron,
    timezone: 'Europe/Berlin',
    is_active: true,
  })
  const tasks = `${about}/schedules/${schedule.attributes.id}/tasks`
  await must('POST', tasks, { action: 'command', payload: 'say restarting', time_offset: 0 })
  await must('POST', tasks, { action: 'power', payload: 'restart', time_offset: 60 })
  await must('POST', `${about}/users`, {
    email: 'friend@roost.example',
    permissions: ['control.console', 'file.read'],
  })
  await must('POST', '/account/api-keys', { description: 'For the bot', allowed_ips: [] })
  await must('POST', '/account/ssh-keys', { name: 'laptop', public_key: publicKey })
  const bulk = { action: 'unsuspend', servers: [id, 999_999] }
  expect((await panel.asAdmin('POST', '/servers/bulk', bulk)).status).toBe(202)
  await eventually(async () => {
    const { data } = await must('GET', `${about}/backups`)
    return data.every(({ attributes }: any) => attributes.completed_at !== null)
  })
  return { server: identifier, schedule: schedule.attributes.id }
}

async function writeFile(panel: PanelProcess, server: string, file: string, content: string): Promise<void> {
  const { url, user } = panel.bootstrap
  const query = new URLSearchParams({ file })
  const answer = await fetch(`${url}/api/client/servers/${server}/files/write?${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.client_key}`, 'content-type': 'text/plain' },
    body: content,
  })
  expect(answer.status).toBe(204)
}

/**
 * Opens a screen and waits until it is there with its data. Goes from one screen of a server to the next inside the
 * page, since the panel gives out few tokens for the console a minute.
 */
export async function openScreen(page: Page, screen: Screen): Promise<void> {
  // What was answered in place of the panel belongs to the screen before.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  const isOfServer = (path: string) => path.startsWith('/server/')
  if (isOfServer(new URL(page.url()).pathname) && isOfServer(screen.path))
    await page.evaluate((path) => history.pushState(null, '', path), screen.path)
  else await page.goto(screen.path)
  await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' })
  await page.locator('#app').getByText(screen.shows).filter({ visible: true }).first().waitFor()
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  await screen.act?.(page)
  await screen.state?.(page).waitFor()
}
