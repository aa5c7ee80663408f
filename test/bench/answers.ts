/**
 * Records the answers of every GET route over a seeded world, and compares them with a recording of another version:
 *
 *     node test/bench/answers.ts --out before.json
 *     node test/bench/answers.ts --compare before.json
 *
 * Needs a PostgreSQL (`TEST_DATABASE_URL`). Its files (`answers*.ts`) can be copied into an older checkout.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { apiInfo, listMountedRoutes } from '../../src/cli/api-info.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { setLogLevel } from '../../src/log.ts'
import { localCache } from '../../src/platform/local/cache.ts'
import { serve } from '../../src/platform/serve.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { createDatabase } from '../support/database.ts'
import { type RecordedRequest, requestsOf } from './answers-requests.ts'
import { answersNow, callers, seedAnswersWorld, startAnswersDaemon } from './answers-world.ts'
import { openBenchServices } from './services.ts'

/** The port stands in answers, so it is always the same. */
const daemonPort = 28_080
const secretKeys = `bench:${Buffer.alloc(32, 7).toString('base64')}`

/** Routes whose answer is of the process or of chance. */
const unrecorded = ['/metrics']
/** Headers that differ by chance. */
const ignoredHeaders = new Set(['x-request-id', 'date', 'server-timing'])

type Recording = Record<string, { status: number; headers: Record<string, string>; body: string }>

const { values: options } = parseArgs({
  options: { out: { type: 'string' }, compare: { type: 'string' }, only: { type: 'string', default: '' } },
})

/** Lists the requests of all routes. */
function listRequests(): RecordedRequest[] {
  const routes = listMountedRoutes().filter(({ method }) => method === 'GET')
  const document = openApiDocument(listMountedRoutes(), apiInfo('/')) as unknown as {
    paths: Record<string, { get?: { parameters?: { in: string; name: string }[] } }>
  }
  return routes
    .filter(({ path }) => !unrecorded.includes(path) && path.includes(options.only))
    .flatMap(({ path }) => {
      const key = path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}')
      const named = document.paths[key]?.get?.parameters ?? []
      return requestsOf(
        path,
        named.filter((each) => each.in === 'query').map(({ name }) => name),
      )
    })
}

/** Replaces what differs by chance: random tokens, durations, and times of the database's own clock. */
function withoutChance(text: string): string {
  const today = new Date()
  const days = [-1, 0, 1].map((n) => new Date(today.getTime() + n * 86_400_000).toISOString().slice(0, 10))
  return text
    .replaceAll(/eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]+/g, (_whole, payload: string) => `<jwt ${claims(payload)}>`)
    .replaceAll(/nonce-[\w+/=-]+|nonce="[^"]+"/g, '<nonce>')
    .replaceAll(/(secret=)[A-Z2-7]+|("secret":")[A-Z2-7]+/g, '$1$2<secret>')
    .replaceAll(/((?:roost_session|XSRF-TOKEN|roost_browser)=)[\w.-]+/g, '$1<token>')
    .replaceAll(/(name=\\?"csrf-token\\?" content=)"\w+"/g, '$1<token>')
    .replaceAll(/(\/assets\/[\w.-]*)-[\w-]{8}(\.\w+)/g, '$1<hash>$2')
    .replaceAll(/"(database|cache|queue|objects)":\d+/g, '"$1":<milliseconds>')
    .replaceAll(/(?<="clock\.ahead","values":\{"seconds":)\d+|\d+(?= seconds ahead)/g, '<seconds>')
    .replaceAll(/(state=|code_challenge=)[\w-]+/g, '$1<chance>')
    .replaceAll(
      new RegExp(`(?:${days.join('|')})T\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:Z|\\+00:00)`, 'g'),
      '<now>',
    )
}

/** Returns the claims of a token without its random ones. */
function claims(payload: string): string {
  const {
    jti: _jti,
    unique_id: _id,
    ...rest
  } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, unknown>
  return JSON.stringify(rest)
}

async function record(): Promise<Recording> {
  const database = await createDatabase()
  const daemon = await startAnswersDaemon(daemonPort)
  const opened = await openBenchServices(database.url, () => undefined)
  try {
    await seedAnswersWorld(database.url, secretKeys, daemonPort)
    const services = { ...opened, now: () => new Date(answersNow) }
    services.objects = {
      ...opened.objects,
      get: async () => null,
      signedUrl: async (key: string, seconds: number) => `https://objects.test/${key}?seconds=${seconds}`,
    }
    const app = serve(
      {
        services: async () => services,
        clientAddress: () => '192.0.2.1',
        waitUntil: () => undefined,
      },
      ...surfaces,
    )
    const recording: Recording = {}
    for (const { caller, path } of listRequests()) {
      services.cache = localCache(() => new Date(answersNow).getTime())
      services.inFlight?.clear()
      const headers = { accept: 'application/json', ...callers[caller] }
      const answer = await app.request(`http://panel.test${path}`, { headers })
      recording[`${caller} ${path}`] = {
        status: answer.status,
        headers: Object.fromEntries(
          [...answer.headers]
            .filter(([name]) => !ignoredHeaders.has(name))
            .map(([name, value]) => [name, withoutChance(value)]),
        ),
        body: withoutChance(await answer.text()),
      }
    }
    return recording
  } finally {
    await opened.close()
    daemon.close()
    daemon.closeAllConnections()
    await database.drop()
  }
}

function firstDifference(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at += 1
  return at
}

/** Prints what differs; returns the number of answers that do. */
function compare(before: Recording, after: Recording): number {
  let differing = 0
  for (const [name, old] of Object.entries(before)) {
    if (!name.includes(options.only)) continue
    const now = after[name]
    const [one, other] = [JSON.stringify(old), JSON.stringify(now)]
    if (one === other) continue
    differing += 1
    if (differing > 20) continue
    const at = firstDifference(one, other ?? '')
    const from = Math.max(0, at - 80)
    console.log(
      `${name}\n  before: ${one.slice(from, at + 160)}\n  after:  ${(other ?? 'no answer').slice(from, at + 160)}`,
    )
  }
  return differing
}

setLogLevel('off')
const recording = await record()
const byStatus = Object.groupBy(Object.values(recording), ({ status }) => String(status))
const statuses = Object.entries(byStatus).map(([status, answers]) => `${status}: ${answers?.length ?? 0}`)
console.log(`${Object.keys(recording).length} answers (${statuses.join(', ')})`)
if (options.out !== undefined) await writeFile(options.out, `${JSON.stringify(recording, null, 1)}\n`)
if (options.compare !== undefined) {
  const differing = compare(JSON.parse(await readFile(options.compare, 'utf8')) as Recording, recording)
  console.log(differing === 0 ? 'All answers are equal.' : `${differing} answers differ.`)
  process.exitCode = differing === 0 ? 0 : 1
}
