import { mkdir, rm } from 'node:fs/promises'
import { startChromium, type Tab } from '../../support/chromium.ts'
import {
  adminScreens,
  seedScreens,
  guestScreens,
  openScreen,
  playerScreens,
  type Screen,
  themes,
  viewports,
} from './screens.ts'
import { openGuest, openSignedIn } from './appearance.ts'
import { startLocalhostPanel } from './panel-fixtures.ts'
import { guestOfServerScreens, newcomerScreens, seedStates, stateScreens } from './state-screens.ts'

// `npm run screenshots`: a picture of every screen and state, in four sizes, light and dark, in `screenshots/`; of those
// whose names contain the argument only, where there is one.
const folder = 'screenshots'
const part = process.argv[2] ?? ''

const [panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
try {
  const screenData = await seedScreens(panel)
  const accounts = await seedStates(panel)
  await rm(folder, { recursive: true, force: true })
  for (const viewport of viewports) {
    for (const theme of themes) {
      const target = `${folder}/${viewport.name}-${theme}`
      await mkdir(target, { recursive: true })
      await take(await openGuest(chromium, panel, { viewport, theme }), guestScreens, target)
      await take(await openSignedIn(chromium, panel, { viewport, theme }), playerScreens(screenData), target)
      const as = (account?: { username: string; password: string }) =>
        openSignedIn(chromium, panel, { viewport, theme }, account)
      await take(await as(), stateScreens(screenData), target)
      await take(await as(accounts.newcomer), newcomerScreens, target)
      await take(await as(accounts.guestOfServer), guestOfServerScreens(screenData), target)
      await take(await as(panel.bootstrap.admin), adminScreens, target)
    }
  }
} finally {
  await chromium.close()
  await panel.stop()
}

async function take({ page, context }: Tab, screens: Screen[], target: string): Promise<void> {
  for (const screen of screens.filter(({ name }) => name.includes(part))) {
    const path = `${target}/${screen.name}.png`
    // The picture of a page that does not come shows why.
    const reason = await openScreen(page, screen).then(
      () => null,
      (error: unknown) => String(error).split('\n')[0],
    )
    await page.screenshot({ path })
    console.log(reason ? `${path}: ${reason}` : path)
    if (reason) process.exitCode = 1
  }
  await context.close()
}
