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

/** What a step can find. */
export const foundCodes = [
  'mail_stored',
  'mail_accepted',
  'bucket_answered',
  'upload_joined',
  'size_found',
  'download_done',
  'removal_done',
  'abort_done',
  'discovery_found',
  'secret_missing',
  'secret_set',
] as const
export type FoundCode = (typeof foundCodes)[number]

/** What was found: a sentence, the code that stands for it, and what it names. */
type Found = { detail: string; code: FoundCode; values: Record<string, string | number> }
/** The result of a step. A step that failed has the words of the service, without a code. */
export type TestStep = { name: string; state: 'ok' | 'failed' } & (
  | Found
  | { detail: string; code: null; values: Record<string, never> }
)
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
        ? found('mail_stored', `No mail service is configured: the mail to ${to} was stored in the outbox.`, {
            to,
          })
        : found('mail_accepted', `The mail service accepted the mail to ${to}.`, { to })
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
      throw badRequest(
        'objects_on_own_disk',
        'This panel stores objects on its own disk: its operator has to set S3_BUCKET.',
      )
    const steps = await testObjectStore({ objects, uploads }, causeOf)
    return steps.map(({ name, detail, found: what, ...step }) =>
      step.isOk && what
        ? { name, state: 'ok', ...found(what.code, detail, what.values) }
        : failed(name, detail),
    )
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
      const values = { address: origin + pathname, redirect: client.redirectUri }
      const detail = `Users sign in at ${values.address}. Allow the redirect address ${values.redirect} there.`
      return found('discovery_found', detail, values)
    })
    return [discovery, secretStep(client.clientSecret)]
  })

const secretStep = (clientSecret: string): TestStep =>
  clientSecret === ''
    ? { name: 'secret', state: 'failed', ...found('secret_missing', 'The client secret is missing.') }
    : {
        name: 'secret',
        state: 'ok',
        ...found(
          'secret_set',
          'A client secret is set. Only a sign-in shows whether the provider accepts it.',
        ),
      }

const found = (code: FoundCode, detail: string, values: Found['values'] = {}): Found => ({
  code,
  detail,
  values,
})

const failed = (name: string, detail: string): TestStep => ({
  name,
  state: 'failed',
  detail,
  code: null,
  values: {},
})

async function readOidcClient(panel: Panel) {
  const settings = await getSettings(panel, [
    'sign_in.oidc_issuer',
    'sign_in.oidc_client_id',
    'sign_in.oidc_client_secret',
  ])
  const { 'sign_in.oidc_issuer': issuer, 'sign_in.oidc_client_id': clientId } = settings
  if (issuer === null || clientId === null)
    throw badRequest('issuer_missing', 'Set the issuer and the client ID first.')
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

async function step(name: string, work: () => Promise<Found>): Promise<TestStep> {
  try {
    return { name, state: 'ok', ...(await work()) }
  } catch (error) {
    return failed(name, causeOf(error))
  }
}
