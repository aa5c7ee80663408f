import type { User } from '../../db/tables/users.ts'
import type { Panel, Tx } from '../../panel.ts'
import { isSignatureOf, randomText, sign } from '../secrets.ts'

/** A browser that has signed in to an account, as its cookie says. */
export type KnownBrowser = {
  userUuid: string
  /** The account's value at that time: the cookie is revoked together with the sessions of the account. */
  authVersion: number
  /** Random; one browser gets another id with each sign-in. */
  id: string
}

/** Days for which a browser is known after its last sign-in. */
const knownBrowserDays = 180
const idLength = 20
const purpose = 'known browser'

const tokenPattern = /^([0-9a-f-]{36})\.(\d{1,10})\.([A-Za-z0-9]{20})\.(\d{1,16})\.(\w+\.[\w-]{43})$/

/**
 * Creates the signed token with which a browser shows that it has signed in to the account (AU-8). It does not
 * sign in: its attempts to sign in are counted by themselves.
 */
export async function createKnownBrowserToken(
  tx: Tx,
  user: Pick<User, 'uuid' | 'authVersion'>,
): Promise<string> {
  const expiresAt = tx.now().getTime() + knownBrowserDays * 86_400_000
  const text = `${user.uuid}.${user.authVersion}.${randomText(idLength)}.${expiresAt}`
  return `${text}.${await sign(tx, purpose, text)}`
}

/** Returns what the token says, or null when it is not signed by this panel or has expired. */
export async function readKnownBrowserToken(panel: Panel, token: string): Promise<KnownBrowser | null> {
  const [, userUuid, authVersion, id, expiresAt, signature] = tokenPattern.exec(token) ?? []
  if (!userUuid || !authVersion || !id || !expiresAt || !signature) return null
  if (Number(expiresAt) <= panel.now().getTime()) return null
  const text = `${userUuid}.${authVersion}.${id}.${expiresAt}`
  if (!(await isSignatureOf(panel, purpose, text, signature))) return null
  return { userUuid, authVersion: Number(authVersion), id }
}

/** Tells whether the browser is known to the account now: its sessions were not ended since. */
export const isKnownTo = (browser: KnownBrowser | null, user: Pick<User, 'uuid' | 'authVersion'>): boolean =>
  browser?.userUuid === user.uuid && browser.authVersion === user.authVersion
