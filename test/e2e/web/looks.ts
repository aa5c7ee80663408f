import type { Chromium, Tab } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'

/** How somebody looks at the panel. */
export type Look = { viewport: { width: number; height: number }; theme: 'light' | 'dark' }

/** Milliseconds for one step on a machine that has much else to do. */
const patience = 20_000

/** A browser at the panel, without a session. */
export async function openGuest(chromium: Chromium, panel: PanelProcess, look: Look): Promise<Tab> {
  const { viewport, theme } = look
  const tab = await chromium.openTab({ baseURL: panel.bootstrap.url, viewport, reducedMotion: 'reduce' })
  tab.page.setDefaultTimeout(patience)
  await tab.context.addInitScript((name) => localStorage.setItem('roost.theme', name), theme)
  return tab
}

/** The same, signed in by the form as the player of the demo. */
export async function openSignedIn(chromium: Chromium, panel: PanelProcess, look: Look): Promise<Tab> {
  const tab = await openGuest(chromium, panel, look)
  const { username, password } = panel.bootstrap.user
  await tab.page.goto('/auth/login')
  await tab.page.getByLabel('Username or e-mail address').fill(username)
  await tab.page.getByLabel('Password', { exact: true }).fill(password)
  await tab.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await tab.page.getByRole('heading', { level: 1, name: 'Servers' }).waitFor()
  return tab
}
