import { site } from '../app/site.ts'
import { forgetList } from './last-list.ts'

/** Whether this page may be kept: browsers have workers and caches on secure origins only. */
const canKeep = () => 'serviceWorker' in navigator && 'caches' in globalThis

/** Prepares the browser for the time without the panel once it has nothing else to do. Guests leave nothing behind. */
export function startOffline(): void {
  if (!site.user || site.acting) forgetList()
  if (!canKeep()) return
  const run = async () => {
    const { forgetAccount, keepOffline } = await import('./keep-offline.ts')
    // An administrator who acts for a user leaves nothing of either.
    await (site.user && !site.acting ? keepOffline() : forgetAccount())
  }
  const start = () => void run().catch(() => undefined)
  if ('requestIdleCallback' in globalThis) requestIdleCallback(start, { timeout: 10_000 })
  else setTimeout(start, 3000)
}

/** Forgets what the browser keeps of the account, before another one signs in. */
export async function forgetAccount(): Promise<void> {
  forgetList()
  if (!canKeep()) return
  const offline = await import('./keep-offline.ts').catch(() => null)
  await offline?.forgetAccount()
}
