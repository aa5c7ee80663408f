import { describe } from 'vitest'
import { type CloudServices, findPostgres } from '../support/cloud-services.ts'
import { sendRaw } from '../support/raw-http.ts'
import { startWorkers } from '../support/workers.ts'
import { smokeSuite, type SmokeTarget } from './smoke.ts'

const hasPostgres = await findPostgres('the smoke suites on Workers')
const origin = 'https://panel.example.com'

const open =
  (environments: (string | null)[]) =>
  async (services: CloudServices): Promise<SmokeTarget> => {
    const secrets = { ...services.environment, APP_URL: origin }
    const workers = await startWorkers(environments.map((environment) => ({ environment, secrets })))
    return {
      origin,
      fetch: (method, path, { ip = '192.0.2.1', headers = {}, ...request }) =>
        sendRaw(workers.url, method, path, { ...request, headers: { ...headers, 'cf-connecting-ip': ip } }),
      close: workers.close,
    }
  }

describe.skipIf(!hasPostgres)('Workers', () => {
  smokeSuite('One worker', open([null]))
  smokeSuite('A worker for each surface', open(['browser', 'client', 'application', 'remote', 'jobs']))
})
