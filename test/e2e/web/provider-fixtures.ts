import { expect } from 'vitest'
import { type Chromium, startChromium } from '../../support/chromium.ts'
import { localhostCertificate, type OidcProvider, startOidcProvider } from '../../support/oidc-provider.ts'
import type { PanelProcess } from '../../support/panel-process.ts'
import { startLocalhostPanel } from './panel-fixtures.ts'

/** A panel with the sign-in provider `Guild`, and a browser. */
export type ProviderFixtures = {
  panel: PanelProcess
  provider: OidcProvider
  chromium: Chromium
  close: () => Promise<void>
}

export async function startProviderFixtures(): Promise<ProviderFixtures> {
  const [panel, provider, chromium] = await Promise.all([
    startLocalhostPanel({ NODE_EXTRA_CA_CERTS: localhostCertificate }),
    startOidcProvider(),
    startChromium(),
  ])
  const oidc = {
    oidc: true,
    oidc_name: 'Guild',
    oidc_issuer: provider.url,
    oidc_client_id: 'roost-panel',
    oidc_client_secret: 'client secret',
  }
  expect((await panel.asAdmin('PATCH', '/settings', { sign_in: oidc })).status).toBe(200)
  const close = async () => {
    await chromium.close()
    await panel.stop()
    await provider.stop()
  }
  return { panel, provider, chromium, close }
}
