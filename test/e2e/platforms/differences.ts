import type { Platform } from './platform.ts'
import type { Recorded } from './probe.ts'

/** The gateway responds itself, with its own text and headers. */
const byTheGateway: Recorded = {
  answer: '400 error, message, statusCode',
  headers: { 'cache-control': 'no-cache', 'content-security-policy': '', 'x-content-type-options': '' },
}

/** The gateway leaves the body out, so that the function answers as without one. */
const withoutBodyOfGet = (answer: string) => ({
  on: 'Lambda' as const,
  because: 'serverless-offline reads no body of a GET; the gateway of AWS hands it over.',
  expected: { answer },
})

/**
 * Where a platform answers a probe otherwise, and why: all there is.
 *
 * Beyond probes, API Gateway takes no request or answer above 6 MB and waits for 29 seconds. Files that the panel
 * shows have at most 4 MiB, larger ones and archives go past it by signed links, and what takes longer goes on
 * behind an answer, on every platform. Bodies that are said to be text reach a Lambda as text: what is no UTF-8 is
 * sent as `application/octet-stream`. The clock is each platform's own (`Platform.tick`).
 */
export const differences: Record<string, { on: Platform['name']; because: string; expected: Recorded }> = {
  'a message by GET': {
    on: 'Lambda',
    because: 'serverless.yml leads POST alone to the function of jobs; the one of pages gets the rest.',
    expected: { answer: '404 NotFoundHttpException' },
  },
  'a GET with broken JSON, for administrators': withoutBodyOfGet('200 list of 1'),
  'a GET with broken JSON, for players': withoutBodyOfGet('200 list of 1'),
  'a GET with broken JSON, for daemons': withoutBodyOfGet('200 data, links, meta'),
  'an encoding that is broken': {
    on: 'Lambda',
    because: 'serverless-offline reads paths before it looks for a function.',
    expected: byTheGateway,
  },
  'a malformed cookie of another site': {
    on: 'Lambda',
    because: 'serverless-offline reads cookies before it looks for a function; the gateway of AWS does not.',
    expected: byTheGateway,
  },
}
