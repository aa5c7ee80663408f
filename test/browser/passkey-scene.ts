import { expect } from 'vitest'
import type { User } from '../../src/db/tables/users.ts'
import type { Answer } from '../support/answers.ts'
import { type Authenticator, openAuthenticator, type Twist } from '../support/authenticator.ts'
import { type Browser, openBrowser, openSignedInBrowser } from '../support/browser.ts'
import { known } from '../support/factories.ts'
import type { World } from '../support/world.ts'

/** Passkeys need a secure origin. */
export const origin = 'https://panel.test'

/** The panel is reached at this origin from now on. */
export const reachAt = (world: World, url: string): void =>
  void Object.assign(world.parts, { config: { ...world.parts.config, url } })

/** The options of a passkey to be made, in this browser. */
export async function askToMake(browser: Browser): Promise<Answer> {
  return browser.request('POST', '/account/security/passkeys/options', { current_password: known.password })
}

/** Makes a passkey in a browser in which somebody is signed in; gives the answer to it. */
export async function makePasskey(
  browser: Browser,
  authenticator: Authenticator,
  twist: Twist = {},
  name = 'Laptop',
): Promise<Answer> {
  const { body } = await askToMake(browser)
  const made = authenticator.make(body, twist)
  return browser.request('POST', '/account/security/passkeys', { ...made, name })
}

/** An authenticator with a passkey of the account. */
export async function giveAuthenticator(world: World, user: User): Promise<Authenticator> {
  const authenticator = openAuthenticator(origin)
  const { status } = await makePasskey(await openSignedInBrowser(world, user), authenticator)
  expect(status).toBe(204)
  return authenticator
}

/** A guest's browser that asked for a passkey, and the options it was given. */
export async function askForPasskey(
  world: World,
): Promise<{ browser: Browser; options: { challenge: string } }> {
  const browser = await openBrowser(world)
  const { status, body } = await browser.request('POST', '/auth/passkeys/options')
  expect(status).toBe(200)
  return { browser, options: body }
}

/** Signs in with a passkey in a browser of its own. */
export async function signInWith(
  world: World,
  authenticator: Authenticator,
  twist: Twist = {},
): Promise<{ browser: Browser; answer: Answer }> {
  const { browser, options } = await askForPasskey(world)
  const answer = await browser.request('POST', '/auth/passkeys/login', authenticator.use(options, twist))
  return { browser, answer }
}

/** Whether somebody is signed in. */
export const isSignedIn = async (browser: Browser): Promise<boolean> =>
  (await browser.request('GET', '/api/client/account')).status === 200
