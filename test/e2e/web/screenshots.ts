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

// `npm run screenshots`: a picture of every screen, on phone and desktop, light and dark, in `screenshots/`.
const folder = 'screenshots'

const [panel, chromium] = await Promise.all([startLocalhostPanel(), startChromium()])
try {
  const screenData = await seedScreens(panel)
  await rm(folder, { recursive: true, force: true })
  for (const viewport of viewports) {
    for (const theme of themes) {
      const target = `${folder}/${viewport.name}-${theme}`
      await mkdir(target, { recursive: true })
      await take(await openGuest(chromium, panel, { viewport, theme }), guestScreens, target)
      await take(await openSignedIn(chromium, panel, { viewport, theme }), playerScreens(screenData), target)
      await take(
        await openSignedIn(chromium, panel, { viewport, theme }, panel.bootstrap.admin),
        adminScreens,
        target,
      )
    }
  }
} finally {
  await chromium.close()
  await panel.stop()
}

async function take({ page, context }: Tab, screens: Screen[], target: string): Promise<void> {
  for (const screen of screens) {
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
