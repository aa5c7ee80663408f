import { afterAll, describe, vi } from 'vitest'
import { findPostgres, stubEnvironment } from '../support/cloud-services.ts'
import { callThroughGateway } from '../support/lambda-gateway.ts'
import { anyHosts, smokeSuite } from './smoke.ts'

const hasPostgres = await findPostgres('the smoke suite on Lambda')

/** Loads the functions anew: each opens its services once. Paths lead to them as in serverless.yml. */
async function loadFunctions() {
  const [application, browser, client, jobs, remote] = await Promise.all([
    import('../../functions/application/lambda.ts'),
    import('../../functions/browser/lambda.ts'),
    import('../../functions/client/lambda.ts'),
    import('../../functions/jobs/lambda.ts'),
    import('../../functions/remote/lambda.ts'),
  ])
  return (path: string) => {
    if (path.startsWith('/api/application')) return application.handler
    if (['/api/client', '/avatars/', '/health', '/metrics'].some((start) => path.startsWith(start)))
      return client.handler
    if (path.startsWith('/api/remote')) return remote.handler
    return path.startsWith('/jobs/') ? jobs.handler : browser.handler
  }
}

afterAll(() => {
  vi.unstubAllEnvs()
})

const drivers = [
  ['Lambda', {}],
  ['Lambda over TCP', { DATABASE_DRIVER: 'postgres', NEON_LOCAL_PROXY: '' }],
] as const

describe.skipIf(!hasPostgres).each(drivers)('%s', (name, more) => {
  smokeSuite(
    name,
    async ({ environment }) => {
      const origin = 'https://panel.example.com'
      vi.resetModules()
      stubEnvironment({ ...environment, ...more, APP_URL: origin })
      const functionFor = await loadFunctions()
      return {
        origin,
        fetch: (method, path, { ip = '192.0.2.1', ...request }) =>
          callThroughGateway(functionFor(path), method, path, { ...request, sourceIp: ip }),
        close: async () => undefined,
      }
    },
    anyHosts,
  )
})
