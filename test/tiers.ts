import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'

export type Tier = 'container' | 'services' | 'dev' | 'e2e' | 'unit' | 'api'

/** Which test files each tier has, below `test/`; the first tier with a pattern that fits a file has it. */
const patterns: Record<Tier, string[]> = {
  // The image, compose.yaml and the unit of systemd, with a Docker of its own.
  container: ['container/{compose,compose-profiles,systemd}.test.ts'],
  // Needs PostgreSQL, MariaDB or Redis itself.
  services: [
    'adapters/{mysql-host,redis-cache}.test.ts',
    'application/database-{failures,hosts}.test.ts',
    '{application,client}/databases.test.ts',
    'cli/{moved-activity,moved-again,moved-columns,moved-facts,moved-identities,moved-kills,moved-odd-rows,moved-panel,moved-passkeys,moved-settings,moved-sign-in,moving-in,moving-in-activity,moving-in-broken,moving-in-commands,moving-in-create,moving-in-dumps,moving-in-leftovers,moving-in-snapshots,moving-in-sources,moving-in-upload,moving-in-wires,moving-in-zone}.test.ts',
    'platform/{database-cache,migrations,neon,pending-migrations,postgres,silent-database,statement-pool}.test.ts',
  ],
  // Programs and stand-ins for development: the daemon, the queue, the object store, the command line and bundles.
  dev: [
    'cli/*.test.ts',
    'platform/daemon-{api,archives,child-environment,backups,backups-s3,file-paths,files,pulls,restorations}.test.ts',
    'platform/daemon-{power-lock,servers,signed-files,transfers,websocket}.test.ts',
    'platform/{bundles,demo,fail2ban,failed-demo,first-start,full-disk,integration-examples,monitoring,local-*,panel-address,qstash}.test.ts',
    'platform/{proxies,read-only-disk,refused-starts,server-bundle,shutdown,start-failures,systemd,tracing}.test.ts',
    'web/*.test.ts',
  ],
  // Whole panels: in a browser, on every platform, and with a service that fails.
  e2e: ['e2e/**/*.test.ts', 'platform/{lambda,smoke-*,web-assets,workers}.test.ts'],
  // Neither a database nor another process.
  unit: [
    '{adapters,db,domain,http}/*.test.ts',
    'contract/{citations,compose,docs,documented-commands,events,language,layers,lock,migrations,openapi,operations-doc}.test.ts',
    'contract/{admin-levels,admin-screens,encrypted-columns,passwords,readme}.test.ts',
    'contract/{refusal-texts,routes,rules,scale-requests,tiers}.test.ts',
    'platform/{daemon-configuration,daemon-fetch,daemon-one-time-tokens,egress,mail,minute-timer,node-addresses}.test.ts',
    'platform/{hash-threads,log-lines,prepared-query,queue-wire,s3-presets,sent-bytes,shared-port,shed-load}.test.ts',
  ],
  // The panel over PGlite: its surfaces, its jobs, and what holds for every route.
  api: [
    '{application,browser,client,jobs,remote}/*.test.ts',
    'contract/{allowed-methods,answers,document-truth,input-forms,limiter-keys,reading,refusals,refused-input,statements,transactions,wings,world-reset}.test.ts',
    'platform/{answer-headers,client-errors,compressed-answers,read-only-database,request-log,trace}.test.ts',
  ],
}

/** Suites that run over pg and the neon driver, too. */
const surfaces = ['{application,browser,client,jobs,remote}/*.test.ts']
/** Those of them that can differ by driver: transactions, races, counted statements, jobs and sign-in. */
const differing = [
  '{jobs,remote}/*.test.ts',
  'application/{allocations,databases,egg-management,jobs,keys,node-configuration,server-build}.test.ts',
  'application/{server-creation,settings,transfer-starts,transfers,user-addresses,user-resets,users}.test.ts',
  'browser/{checkpoint,claimed-accounts,login,login-cost,login-limits,oauth,oauth-linking,passkeys}.test.ts',
  'browser/{password-reset,register}.test.ts',
  'browser/{second-factor-policy,security,session-cookies,sign-in-secrecy}.test.ts',
  'client/{account-email,account-password,account-two-factor,api-keys,auto-allocation}.test.ts',
  'client/{backup-start,credential,noted-uses,pending-subusers}.test.ts',
  'client/{databases,network,schedule-execution,schedule-rules,schedule-runs,server-list,ssh-keys}.test.ts',
  'client/{subuser-revocation,trash-restore}.test.ts',
]

const files = globSync('**/*.test.ts', { cwd: import.meta.dirname }).toSorted()
const matches = (file: string, globs: readonly string[]) => globs.some((glob) => matchesGlob(file, glob))
const tiers = Object.keys(patterns) as Tier[]

/** Returns the tier of a file; null when no pattern matches. */
export const tierOf = (file: string): Tier | null =>
  tiers.find((tier) => matches(file, patterns[tier])) ?? null

/** Lists the test files of a tier, by their path from the root. */
export const filesOf = (tier: Tier): string[] => paths(files.filter((file) => tierOf(file) === tier))

/** Paths of the suites that run over every driver: those that can differ, and the rest. */
export const surfacesThatDiffer = paths(
  files.filter((file) => matches(file, surfaces) && matches(file, differing)),
)
export const otherSurfaces = paths(
  files.filter((file) => matches(file, surfaces) && !matches(file, differing)),
)

/** Every test file below `test/`, and every pattern above. */
export const testFiles: readonly string[] = files
export const tierPatterns: readonly string[] = [...Object.values(patterns).flat(), ...surfaces, ...differing]

function paths(names: string[]): string[] {
  return names.map((name) => `test/${name}`)
}
