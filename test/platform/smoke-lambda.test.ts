import { afterAll, describe, vi } from 'vitest'
import { handler as application } from '../../functions/application/lambda.ts'
import { handler as browser } from '../../functions/browser/lambda.ts'
import { handler as client } from '../../functions/client/lambda.ts'
import { handler as jobs } from '../../functions/jobs/lambda.ts'
import { handler as remote } from '../../functions/remote/lambda.ts'
import { findPostgres, stubEnvironment } from '../support/cloud-services.ts'
import { callThroughGateway } from '../support/lambda-gateway.ts'
import { anyHosts, smokeSuite } from './smoke.ts'

const hasPostgres = await findPostgres('the smoke suite on Lambda')

/** As the paths of serverless.yml lead. */
const functionFor = (path: string) => {
  if (path.startsWith('/api/application')) return application
  if (['/api/client', '/avatars/', '/health', '/metrics'].some((start) => path.startsWith(start)))
    return client
  if (path.startsWith('/api/remote')) return remote
  return path.startsWith('/jobs/') ? jobs : browser
}

afterAll(() => {
  vi.unstubAllEnvs()
})

describe.skipIf(!hasPostgres)('Lambda', () => {
  smokeSuite(
    'Lambda',
    async ({ environment }) => {
      const origin = 'https://panel.example.com'
      stubEnvironment({ ...environment, APP_URL: origin })
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
