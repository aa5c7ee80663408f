import { expect } from 'vitest'
import type { User } from '../../src/db/tables/users.ts'
import type { Answer } from '../support/answers.ts'
import { type Authenticator, openAuthenticator, type Deviations } from '../support/authenticator.ts'
import { type Browser, openBrowser, openSignedInBrowser } from '../support/browser.ts'
import { known } from '../support/factories.ts'
import type { World } from '../support/world.ts'

/** Passkeys need a secure origin. */
export const origin = 'https://panel.test'

/** Sets the origin of the panel. */
export const setPanelUrl = (world: World, url: string): void =>
  void Object.assign(world.services, { config: { ...world.services.config, url } })

/** Requests the options of a new passkey. */
export async function requestCreationOptions(browser: Browser): Promise<Answer> {
  return browser.request('POST', '/account/security/passkeys/options', { current_password: known.password })
}

/** Makes a passkey in a signed-in browser; returns the response. */
export async function makePasskey(
  browser: Browser,
  authenticator: Authenticator,
  deviations: Deviations = {},
  name = 'Laptop',
): Promise<Answer> {
  const { body } = await requestCreationOptions(browser)
  const made = authenticator.make(body, deviations)
  return browser.request('POST', '/account/security/passkeys', { ...made, name })
}

/** Makes an authenticator with a passkey of the account. */
export async function giveAuthenticator(world: World, user: User): Promise<Authenticator> {
  const authenticator = openAuthenticator(origin)
  const { status } = await makePasskey(await openSignedInBrowser(world, user), authenticator)
  expect(status).toBe(204)
  return authenticator
}

/** Opens a guest's browser and requests the options of a passkey sign-in. */
export async function requestSignInOptions(
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
  deviations: Deviations = {},
): Promise<{ browser: Browser; answer: Answer }> {
  const { browser, options } = await requestSignInOptions(world)
  const answer = await browser.request('POST', '/auth/passkeys/login', authenticator.use(options, deviations))
  return { browser, answer }
}

/** Checks whether the browser is signed in. */
export const isSignedIn = async (browser: Browser): Promise<boolean> =>
  (await browser.request('GET', '/api/client/account')).status === 200
