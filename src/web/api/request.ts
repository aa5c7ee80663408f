import { hc } from 'hono/client'
import type { browser } from '../../surfaces/browser.ts'
import { secondFactorRequirement } from '../app/second-factor-requirement.ts'
import { noteAnswer } from '../offline/connection.ts'
import { type ErrorEntry, RequestError, readRequestError } from './error.ts'

/** Dispatches `ended` when the session has ended while the page was open. */
export const sessionEnded = new EventTarget()

/**
 * Sends a request to the panel, a change with the CSRF token, and returns the answer. Throws a `RequestError` when the
 * panel refuses or does not answer.
 */
export async function send(address: string, init: RequestInit = {}): Promise<Response> {
  let answer = await fetchAnswer(address, init)
  // The token of the page is older than the session: another tab signed in again.
  if (answer.status === 419) {
    await hc<typeof browser>('/').sanctum['csrf-cookie'].$get()
    answer = await fetchAnswer(address, init)
  }
  if (answer.ok) return answer
  // Texts that cannot be loaded must not wait for themselves.
  const isOfTexts = address.startsWith('/locales/')
  const error = await readRequestError(answer, isOfTexts ? asTheyAre : inOwnLanguage)
  const isOfAccount = address.startsWith('/api/') || address.startsWith('/account/')
  if (answer.status === 401 && isOfAccount) sessionEnded.dispatchEvent(new Event('ended'))
  if (error.entries[0]?.code === 'TwoFactorAuthRequiredException') secondFactorRequirement.raise()
  throw error
}

const asTheyAre = async (entries: readonly ErrorEntry[]) => entries

/** Translates what the panel says in English. */
export const inOwnLanguage = async (entries: readonly ErrorEntry[]) => {
  if (entries.length === 0) return entries
  const texts = await import('./refusal-texts.ts').catch(() => null)
  return texts ? texts.translateEntries(entries) : entries
}

async function fetchAnswer(address: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('accept', 'application/json')
  if ((init.method ?? 'GET') !== 'GET') headers.set('x-xsrf-token', csrfToken())
  try {
    const answer = await fetch(address, { ...(isActing() ? { cache: 'no-store' } : {}), ...init, headers })
    noteAnswer(answer)
    return answer
  } catch (error) {
    if (init.signal?.aborted) throw error
    noteAnswer(null)
    throw new RequestError(0, [], null, null)
  }
}

/** Whether an administrator acts for a user here: then the browser keeps nothing of what is shown. */
const isActing = () =>
  (globalThis as { SiteConfiguration?: Window['SiteConfiguration'] }).SiteConfiguration?.acting !== undefined

/** Returns what proves that a change comes from a page of the panel. */
export function csrfToken(): string {
  const cookie = document.cookie.split('; ').find((entry) => entry.startsWith('XSRF-TOKEN='))
  if (cookie) return decodeURIComponent(cookie.slice('XSRF-TOKEN='.length))
  return document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? ''
}
