import type { Chromium, Tab } from '../../support/chromium.ts'
import type { PanelProcess } from '../../support/panel-process.ts'

/** The viewport and theme of a page. */
export type Appearance = { viewport: { width: number; height: number }; theme: 'system' | 'light' | 'dark' }

/** Timeout of one step on a busy machine. */
const stepTimeoutMs = 20_000

/** Opens a browser at the panel, without a session. */
export async function openGuest(
  chromium: Chromium,
  panel: PanelProcess,
  appearance: Appearance,
): Promise<Tab> {
  const { viewport, theme } = appearance
  const tab = await chromium.openTab({ baseURL: panel.bootstrap.url, viewport, reducedMotion: 'reduce' })
  tab.page.setDefaultTimeout(stepTimeoutMs)
  await tab.context.addInitScript((name) => localStorage.setItem('roost.theme', name), theme)
  return tab
}

/** Opens a browser and signs in with the form, as the demo user or another one. */
export async function openSignedIn(
  chromium: Chromium,
  panel: PanelProcess,
  appearance: Appearance,
  { username, password }: { username: string; password: string } = panel.bootstrap.user,
): Promise<Tab> {
  const tab = await openGuest(chromium, panel, appearance)
  await tab.page.goto('/auth/login')
  await tab.page.getByLabel('Username or e-mail address').fill(username)
  await tab.page.getByLabel('Password', { exact: true }).fill(password)
  await tab.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await tab.page.getByRole('heading', { level: 1, name: 'Servers' }).waitFor()
  return tab
}
