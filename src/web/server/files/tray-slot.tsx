import { lazy, Suspense, useSyncExternalStore } from 'react'
import { trayOpen } from './tray-open.ts'

// Without its code the transfers go on unseen, which is no reason to replace the page by an error.
const TransferTray = lazy(() =>
  import('./transfer-tray.tsx').then(
    ({ TransferTray }) => ({ default: TransferTray }),
    () => ({ default: () => null }),
  ),
)

/** The place of the transfer tray in the layout; its code is loaded with the first transfer. */
export function TraySlot() {
  const isShown = useSyncExternalStore(trayOpen.subscribe, trayOpen.getSnapshot)
  if (!isShown) return null
  return (
    <Suspense>
      <TransferTray />
    </Suspense>
  )
}
