import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobs as jobsTable } from '../../src/db/schema.ts'
import { type CloudServices, findPostgres, openCloudServices } from '../support/cloud-services.ts'
import { sendRaw } from '../support/raw-http.ts'
import { type RunningWorkers, startWorkers } from '../support/workers.ts'

const hasPostgres = await findPostgres('Workers functions')

describe.skipIf(!hasPostgres)('A worker', () => {
  let services: CloudServices
  let workers: RunningWorkers

  beforeAll(async () => {
    services = await openCloudServices()
    const secrets = { ...services.environment, APP_URL: 'https://panel.example.com' }
    workers = await startWorkers([
      { environment: 'jobs', secrets },
      { environment: 'browser', secrets: { APP_URL: 'no url' } },
    ])
  })
  afterAll(async () => {
    await workers?.close()
    await services?.close()
  })

  it('runs the tick when its cron trigger fires', async () => {
    const { outcome } = await workers.worker('jobs').scheduled({ cron: '* * * * *' })
    expect(outcome).toBe('ok')
    const rows = await services.database.db.select({ name: jobsTable.name }).from(jobsTable)
    expect(rows).toContainEqual({ name: 'maintain-activity' })
  })

  it('answers 503 to all and logs every fault while its environment is incomplete', async () => {
    const { status, body } = await sendRaw(workers.url, 'GET', '/health', {
      headers: { host: 'panel.example.com' },
    })
    expect(status).toBe(503)
    expect(body.errors[0].code).toBe('ServiceUnavailableHttpException')
    await expect.poll(() => workers.logs().join('\n')).toContain('APP_URL')
  })
})
