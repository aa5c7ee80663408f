import i18next from 'i18next'
import { toast } from '../components/toast.tsx'
import { cacheNames, keptPage, keptTexts } from './caches.ts'

/** Texts of the pages that work without the panel. */
const namespaces = [
  'strings',
  'server',
  'home',
  'account',
  'activity',
  'backups',
  'console',
  'databases',
  'feed',
  'files',
  'network',
  'refusals',
  'schedules',
  'settings',
  'startup',
  'trash',
  'users',
]

/** Milliseconds for which the page and its texts are good enough for the next time without the panel. */
const keepForMs = 10 * 60_000
const lastKeptKey = 'roost.kept-at'

/**
 * Prepares this browser for the time when the panel cannot be reached: the code of all pages of players, the page in
 * which they start and its texts. Says when a newer version is ready.
 */
export async function keepOffline(): Promise<void> {
  const registration = await navigator.serviceWorker.register('/service-worker.js')
  offerNewVersion(registration)
  const lastKept = Number(localStorage.getItem(lastKeptKey))
  if (Date.now() - lastKept < keepForMs) return
  const cache = await caches.open(cacheNames.page)
  const texts = `${keptTexts}?${new URLSearchParams({ locale: i18next.language, namespace: namespaces.join(' ') })}`
  await Promise.all([keep(cache, keptPage, keptPage), keep(cache, keptTexts, texts)])
  localStorage.setItem(lastKeptKey, String(Date.now()))
}

async function keep(cache: Cache, key: string, address: string): Promise<void> {
  const answer = await fetch(address, {
    headers: { accept: key === keptPage ? 'text/html' : 'application/json' },
  })
  // A session that has ended leads to the sign-in page.
  if (answer.ok && !answer.redirected) await cache.put(key, answer)
}

/** Forgets pages and answers of the account. Code and nothing else stays. */
export async function forgetAccount(): Promise<void> {
  localStorage.removeItem(lastKeptKey)
  await Promise.all([caches.delete(cacheNames.page), caches.delete(cacheNames.data)])
}

function offerNewVersion(registration: ServiceWorkerRegistration): void {
  const offer = (worker: ServiceWorker) => {
    // The first worker of a browser replaces nothing.
    if (!navigator.serviceWorker.controller) return
    const run = () => {
      navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true })
      worker.postMessage('activate')
    }
    toast(i18next.t('strings:version.ready'), { label: i18next.t('strings:version.reload'), run })
  }
  if (registration.waiting) offer(registration.waiting)
  registration.addEventListener('updatefound', () => {
    const worker = registration.installing
    worker?.addEventListener('statechange', () => {
      if (worker.state === 'installed') offer(worker)
    })
  })
}
