import { rm } from 'node:fs/promises'
import { describe } from 'vitest'
import { type CloudServices, findPostgres } from '../support/cloud-services.ts'
import { sendRaw } from '../support/raw-http.ts'
import { startWorkers, withHyperdrive } from '../support/workers.ts'
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

const openOverHyperdrive = async (services: CloudServices): Promise<SmokeTarget> => {
  const { DATABASE_URL = '', NEON_LOCAL_PROXY: _proxy, ...environment } = services.environment
  const config = await withHyperdrive(DATABASE_URL)
  const secrets = { ...environment, APP_URL: origin }
  const workers = await startWorkers([{ environment: null, secrets }], config)
  return {
    origin,
    fetch: (method, path, { ip = '192.0.2.1', headers = {}, ...request }) =>
      sendRaw(workers.url, method, path, { ...request, headers: { ...headers, 'cf-connecting-ip': ip } }),
    close: async () => {
      await workers.close()
      await rm(config)
    },
  }
}

describe.skipIf(!hasPostgres)('Workers', () => {
  smokeSuite('One worker', open([null]))
  smokeSuite('One worker with Hyperdrive', openOverHyperdrive)
  smokeSuite('A worker for each surface', open(['browser', 'client', 'application', 'remote', 'jobs']))
})
