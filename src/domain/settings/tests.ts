import * as z from 'zod'
import { badRequest } from '../../errors.ts'
import { causeOf } from '../../log.ts'
import type { Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { requireCaller } from '../auth/caller.ts'
import { email } from '../fields.ts'
import { sendTestMail } from '../mail/test-mail.ts'
import { testObjectStore } from '../operations/object-store-test.ts'
import { randomText } from '../secrets.ts'
import { getSettings } from './settings.ts'

/** What an administrator can test. */
export const settingTests = ['mail', 'bucket', 'oidc'] as const
export type SettingTest = (typeof settingTests)[number]

/** The result of a step; `detail` says what was found, or why it failed. */
export type TestStep = { name: string; state: 'ok' | 'failed'; detail: string }
export type TestReport = { test: SettingTest; steps: TestStep[] }

/** The recipient; the caller's own address by default. */
export const TestMailInput = () => z.object({ to: email().nullish() })
type TestMailInput = z.output<ReturnType<typeof TestMailInput>>

/** Sends a mail, and reports whether the mail service took it. Records `admin:settings.test`. */
export const testMail = (panel: Panel, input: TestMailInput): Promise<TestReport> =>
  report(panel, 'mail', async () => {
    const to = input.to ?? requireCaller(panel).email
    const footnote = 'An administrator requested this mail in the settings.'
    const sent = await step('mail', async () => {
      const { isStored } = await sendTestMail(panel, to, footnote)
      return isStored
        ? `No mail service is configured: the mail to ${to} was stored in the outbox.`
        : `The mail service accepted the mail to ${to}.`
    })
    return [sent]
  })

/**
 * Uploads, measures, downloads and deletes an archive in the object store, as backups do. Refuses with 400 while
 * objects are on the panel's own disk. Records `admin:settings.test`.
 */
export const testBucket = (panel: Panel): Promise<TestReport> =>
  report(panel, 'bucket', async () => {
    const { objects } = panel
    const uploads = objects.multipart
    if (!uploads)
      throw badRequest('This panel stores objects on its own disk: its operator has to set S3_BUCKET.')
    const steps = await testObjectStore({ objects, uploads }, causeOf)
    return steps.map(({ name, isOk, detail }) => ({ name, state: isOk ? 'ok' : 'failed', detail }))
  })

/**
 * Reads the discovery document of the OpenID Connect provider, and builds the address to which users are sent. Refuses
 * with 400 without an issuer and a client ID. Records `admin:settings.test`.
 */
export const testOidc = (panel: Panel): Promise<TestReport> =>
  report(panel, 'oidc', async () => {
    const client = await readOidcClient(panel)
    const secrets = { state: randomText(32), verifier: randomText(64), nonce: randomText(32) }
    const discovery = await step('discovery', async () => {
      const { origin, pathname } = new URL(await panel.oauth.authorizationUrl(client, secrets))
      return `Users sign in at ${origin}${pathname}. Allow the redirect address ${client.redirectUri} there.`
    })
    return [discovery, secretStep(client.clientSecret)]
  })

const secretStep = (clientSecret: string): TestStep =>
  clientSecret === ''
    ? { name: 'secret', state: 'failed', detail: 'The client secret is missing.' }
    : {
        name: 'secret',
        state: 'ok',
        detail: 'A client secret is set. Only a sign-in shows whether the provider accepts it.',
      }

async function readOidcClient(panel: Panel) {
  const settings = await getSettings(panel, [
    'sign_in.oidc_issuer',
    'sign_in.oidc_client_id',
    'sign_in.oidc_client_secret',
  ])
  const { 'sign_in.oidc_issuer': issuer, 'sign_in.oidc_client_id': clientId } = settings
  if (issuer === null || clientId === null) throw badRequest('Set the issuer and the client ID first.')
  const clientSecret = settings['sign_in.oidc_client_secret'] ?? ''
  const redirectUri = `${panel.config.url}/auth/oauth/oidc/callback`
  return { provider: 'oidc' as const, issuer, clientId, clientSecret, redirectUri }
}

async function report(panel: Panel, test: SettingTest, run: () => Promise<TestStep[]>): Promise<TestReport> {
  const steps = await run()
  const successful = steps.every(({ state }) => state === 'ok')
  await recordEvent(panel, 'admin:settings.test', { properties: { test, successful } })
  return { test, steps }
}

async function step(name: string, work: () => Promise<string>): Promise<TestStep> {
  try {
    return { name, state: 'ok', detail: await work() }
  } catch (error) {
    return { name, state: 'failed', detail: causeOf(error) }
  }
}
