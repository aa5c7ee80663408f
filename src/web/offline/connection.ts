import { keptHeader } from './caches.ts'

/** Milliseconds between two attempts to reach the panel again. */
const probeMs = 5000
/** A file that costs the panel nothing. */
const probeAddress = '/robots.txt'

let isReachable = true
const listeners = new Set<() => void>()

/** Calls the listener when the panel can be reached or no longer; returns what ends that. */
export function onConnectionChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether the panel answered the last request itself. */
export const isPanelReachable = (): boolean => isReachable

/** Notes how a request ended: with an answer of the panel, with one that the browser kept, or (null) with none. */
export function noteAnswer(answer: Response | null): void {
  setReachable(answer !== null && !answer.headers.has(keptHeader))
}

function setReachable(next: boolean): void {
  if (next === isReachable) return
  isReachable = next
  for (const listener of listeners) listener()
  if (!next) setTimeout(() => void probe(), probeMs)
}

async function probe(): Promise<void> {
  if (isReachable) return
  const answer = await fetch(probeAddress, { method: 'HEAD', cache: 'no-store' }).catch(() => null)
  if (answer) setReachable(true)
  else setTimeout(() => void probe(), probeMs)
}

globalThis.addEventListener?.('offline', () => setReachable(false))
globalThis.addEventListener?.('online', () => void probe())
