import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { definitions } from '../../src/metrics.ts'
import { type CloudServices, findPostgres, openCloudServices } from '../support/cloud-services.ts'
import { makeNode, makeServer } from '../support/factories.ts'
import { freePort, startPanelProcess } from '../support/panel-process.ts'
import { eventually, type RunningProcess, startProcess } from '../support/processes.ts'

const folder = join(import.meta.dirname, '../../docs/monitoring')
const run = promisify(execFile)

/** Of Debian's package `prometheus`. */
const promtool = (...args: string[]) => run('promtool', args, { cwd: folder })
const hasPromtool = await promtool('--version').then(
  () => true,
  () => false,
)
if (!hasPromtool && process.env.CI) throw new Error('promtool is missing: install it from prometheus.')
if (!hasPromtool) process.stderr.write('Skipped: rules of Prometheus: there is no promtool.\n')

const hasPostgres = await findPostgres('metrics of several processes')
const token = 'token-of-the-metrics'

/** Lists the names of metrics in an expression: what is no function, keyword, label or text. */
const metricsIn = (expr: string) =>
  Array.from(
    expr.replace(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, ' ').matchAll(/\b[a-z_]\w*\b(?!\s*\()/g),
    ([name]) => name,
  ).filter((name) => !['by', 'le', 'sum'].includes(name))

type Rule = { expr: string }

describe.skipIf(!hasPromtool)('the rules of Prometheus', () => {
  it('are valid, and each alarm says what it should when it should', { timeout: 60_000 }, async () => {
    expect((await promtool('check', 'rules', 'roost-rules.yaml')).stdout).toContain('SUCCESS')
    expect((await promtool('test', 'rules', 'roost-rules.test.yaml')).stdout).toContain('SUCCESS')
    const { groups } = parse(await readFile(join(folder, 'roost-rules.yaml'), 'utf8'))
    const tests = await readFile(join(folder, 'roost-rules.test.yaml'), 'utf8')
    const untested = groups[0].rules.filter(({ alert }: { alert: string }) => !tests.includes(alert))
    expect(untested).toEqual([])
  })
})

describe('a scrape of a panel over the embedded database', () => {
  it(
    'has its one connection, for which nothing waits but the panel itself',
    { timeout: 60_000 },
    async () => {
      const panel = await startPanelProcess({ METRICS_TOKEN: token })
      try {
        const read = async () => {
          const headers = { authorization: `Bearer ${token}` }
          return (await fetch(`${panel.bootstrap.url}/metrics`, { headers })).text()
        }
        await eventually(async () => /^roost_database_connections\{.*state="idle"\} 1$/m.test(await read()))
        const text = await read()
        expect(text).toMatch(/^roost_database_connections_limit\{process="1"\} 1$/m)
        expect(text).toMatch(/^roost_database_connections\{process="1",state="busy"\} 0$/m)
        expect(text).toMatch(/^roost_database_waiting\{process="1"\} 0$/m)
        expect(text).toMatch(/^roost_servers|^roost_jobs\{/m)
      } finally {
        await panel.stop()
      }
    },
  )
})

describe.skipIf(!hasPostgres || process.platform !== 'linux')('a scrape of two processes', () => {
  let services: CloudServices
  let directory: string
  let panel: RunningProcess
  let url: string

  beforeAll(async () => {
    services = await openCloudServices()
    directory = await mkdtemp(join(tmpdir(), 'roost-metrics-'))
    const node = await makeNode(services.world)
    await makeServer(services.world, { nodeId: node.id })
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    panel = await startProcess('functions/all/start.js', {
      env: {
        APP_KEYS: services.environment.APP_KEYS ?? '',
        APP_URL: url,
        DATABASE_URL: services.environment.DATABASE_URL ?? '',
        DATA_DIR: directory,
        DEMO: 'false',
        HOST: '127.0.0.1',
        PORT: String(port),
        LOG_LEVEL: 'warn',
        PROCESSES: '2',
        METRICS_TOKEN: token,
      },
      ready: /Roost serves at/,
    })
  }, 120_000)
  afterAll(async () => {
    await panel?.stop()
    await services?.close()
    await rm(directory, { recursive: true, force: true })
  })

  const scrape = async () => {
    const headers = { authorization: `Bearer ${token}`, connection: 'close' }
    return (await fetch(`${url}/metrics`, { headers })).text()
  }
  const answered = (text: string) =>
    Number(/^roost_requests_total\{.*route="\/health".*\} (\d+)$/m.exec(text)?.[1] ?? 0)

  it('is refused without the token', async () => {
    expect((await fetch(`${url}/metrics`)).status).toBe(401)
  })

  it(
    'adds up what all have counted, and keeps what an ended process counted',
    { timeout: 120_000 },
    async () => {
      const counted = answered(await scrape()) + 20
      for (let count = 0; count < 20; count += 1)
        await (await fetch(`${url}/health`, { headers: { connection: 'close' } })).text()
      const [first, second] = [await scrape(), await scrape()]
      expect([answered(first), answered(second)]).toEqual([counted, counted])
      for (const process of ['1', '2'])
        expect(first).toMatch(
          new RegExp(`^process_resident_memory_bytes\\{process="${process}"\\} \\d+`, 'm'),
        )
      expect(first).toMatch(/^roost_database_connections_limit\{process="2"\} 10$/m)
      expect(first).toMatch(/^roost_servers\{state="ready"\} \d+$/m)
      expect(first).toMatch(/^roost_nodes\{state="(?:down|unknown)"\} \d+$/m)
      // Starts are whole seconds, rounded.
      await eventually(async () => Date.now() / 1000 >= Math.max(...startsOf(first)) + 0.5, 5)
      panel.child.kill('SIGUSR2')
      await eventually(async () => isRenewed(first), 90)
      expect(answered(await scrape())).toBe(counted)
    },
  )

  const startsOf = (text: string) =>
    Array.from(text.matchAll(/^process_start_time_seconds\{.*\} (\d+)$/gm), ([, at]) => Number(at))

  /** Whether both processes began after those of the scrape before. */
  const isRenewed = async (before: string) => {
    const now = startsOf(await scrape())
    return now.length === 2 && Math.min(...now) > Math.max(...startsOf(before))
  }

  it('has what rules and dashboard ask for, and what promtool accepts', async () => {
    const text = await scrape()
    // Metrics that nothing has counted yet, and gauges of nodes that were asked, are not in every scrape.
    const names = new Set(Array.from(text.matchAll(/^# TYPE (\w+)/gm), ([, name = '']) => name))
    const documented = await readFile(join(folder, '../monitoring.md'), 'utf8')
    const known = (name: string) =>
      name === 'up' || names.has(name) || name in definitions || documented.includes(`\`${name}\``)
    const { groups } = parse(await readFile(join(folder, 'roost-rules.yaml'), 'utf8'))
    const dashboard = JSON.parse(await readFile(join(folder, 'roost-dashboard.json'), 'utf8'))
    const exprs: string[] = [
      ...groups[0].rules.map(({ expr }: Rule) => expr),
      ...dashboard.panels.flatMap(({ targets }: { targets: Rule[] }) => targets.map(({ expr }) => expr)),
    ]
    const asked = exprs.flatMap(metricsIn).map((name) => name.replace(/_bucket$/, ''))
    expect(asked.length).toBeGreaterThan(25)
    expect(asked.filter((name) => !known(name))).toEqual([])
    const shown = [...names].filter((name) => name.startsWith('roost_') && !(name in definitions))
    expect(shown.filter((name) => !documented.includes(`\`${name}\``))).toEqual([])
    if (!hasPromtool) return
    const file = join(directory, 'scrape.txt')
    await writeFile(file, text)
    await run('sh', ['-c', 'promtool check metrics < "$1"', 'sh', file])
  })
})
