import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findCycle, type Import, importsOf, readSource, sourceFiles } from './imports.ts'

type Rule = {
  /** Files the rule is about, by the beginning of their path. */
  files: string
  /** What they may import, by the beginning of its path; their own folder always. */
  may: string[]
  /** What they may import types of. */
  mayType?: string[]
  packages: string[] | 'any'
}

/** Who may import whom; the first rule that fits a file holds. */
const rules: Rule[] = [
  {
    files: 'functions/',
    // The tick is handed to the platform, which knows no rules of its own; adapters to those functions that need them.
    may: ['src/platform/', 'src/surfaces/', 'src/domain/jobs/tick.ts', 'src/adapters/'],
    packages: [],
  },
  { files: 'src/surfaces/all.ts', may: ['src/surfaces/'], packages: [] },
  ...['application', 'browser', 'client', 'avatars', 'jobs', 'monitoring', 'remote'].map((surface) => ({
    files: `src/surfaces/${surface}`,
    may: [
      `src/surfaces/${surface}`,
      'src/http/',
      'src/domain/',
      'src/errors.ts',
      'src/ip-addresses.ts',
      'src/version.ts',
    ],
    mayType: ['src/db/tables/', 'src/db/relations.ts', 'src/panel.ts'],
    packages: ['hono', 'zod', 'node:crypto'],
  })),
  {
    files: 'src/domain/',
    // `panel.ts` for inTransaction; of the adapters see `domain` in the exceptions.
    may: [
      'src/db/',
      'src/locales/',
      'src/panel.ts',
      'src/errors.ts',
      'src/log.ts',
      'src/ip-addresses.ts',
      'src/redaction.ts',
    ],
    mayType: ['src/adapters/'],
    packages: [
      'drizzle-orm',
      'zod',
      'node:crypto',
      're2js',
      'ipaddr.js',
      'croner',
      'arctic',
      'oslo',
      'ignore',
      'bcryptjs',
      'p-limit',
      'image-size',
      'p-limit',
      'yaml',
      '@simplewebauthn/server',
    ],
  },
  {
    files: 'src/adapters/',
    may: ['src/errors.ts', 'src/ip-addresses.ts', 'src/redaction.ts', 'src/with-timeout.ts'],
    packages: [
      'aws4fetch',
      '@aws-sdk/client-s3',
      '@aws-sdk/credential-provider-node',
      '@aws-sdk/s3-request-presigner',
      '@redis/client',
      '@upstash/qstash',
      '@upstash/redis',
      'jose',
      'arctic',
      'mysql2',
      'gamedig',
      'nodemailer',
    ],
  },
  // The list of migrations, to tell which of them a database lacks.
  { files: 'src/db/', may: ['drizzle/meta/_journal.json'], packages: ['drizzle-orm'] },
  {
    files: 'src/http/',
    may: ['src/body-pace.ts', 'src/errors.ts', 'src/log.ts'],
    mayType: ['src/panel.ts', 'src/db/data-column.ts'],
    packages: ['hono', 'zod', '@hono/zod-validator'],
  },
  // The development daemon and the queue stand in for programs of their own.
  { files: 'src/dev/daemon/', may: [], packages: 'any' },
  { files: 'src/dev/qstash/', may: ['src/keyed-mutex.ts'], packages: 'any' },
  {
    files: 'src/dev/object-store/',
    may: ['src/body-pace.ts', 'src/keyed-mutex.ts'],
    mayType: ['src/adapters/objects.ts'],
    packages: ['node:crypto', 'node:fs', 'node:path', 'node:stream'],
  },
  {
    files: 'src/platform/',
    may: [
      'src/adapters/',
      'src/db/',
      'src/dev/',
      'src/http/',
      'src/panel.ts',
      'src/errors.ts',
      'src/log.ts',
      'src/metrics.ts',
      'src/ip-addresses.ts',
      'src/with-timeout.ts',
    ],
    packages: 'any',
  },
  { files: 'src/cli/', may: ['src/', 'drizzle/', 'package.json'], packages: 'any' },
  { files: 'src/locales/', may: [], packages: [] },
  {
    files: 'src/web/',
    may: ['src/locales/', 'src/version.ts'],
    mayType: ['src/surfaces/', 'src/http/', 'src/domain/languages.ts'],
    packages: 'any',
  },
  { files: 'src/panel.ts', may: [], mayType: ['src/adapters/', 'src/db/', 'src/metrics.ts'], packages: [] },
  { files: 'src/log.ts', may: ['src/redaction.ts'], packages: [] },
  { files: 'src/redaction.ts', may: ['src/ip-addresses.ts'], packages: [] },
  { files: 'src/errors.ts', may: [], mayType: ['src/locales/en/refusals.json'], packages: [] },
  ...['src/body-pace.ts', 'src/metrics.ts', 'src/version.ts', 'src/with-timeout.ts'].map((files) => ({
    files,
    may: [],
    packages: [],
  })),
  { files: 'src/metrics-text.ts', may: ['src/metrics.ts'], packages: [] },
  { files: 'src/ip-addresses.ts', may: [], packages: ['ipaddr.js'] },
  { files: 'src/keyed-mutex.ts', may: [], packages: [] },
  {
    files: 'drizzle/',
    may: ['src/db/', 'src/domain/', 'src/platform/content-folders.ts'],
    mayType: ['src/panel.ts'],
    packages: 'any',
  },
]

/** Imports that the rules forbid and that are right all the same. */
const exceptions: { from: string; to: string; why: string }[] = [
  { from: 'src/domain/', to: 'src/adapters/daemon-error.ts', why: 'How calls to daemons fail.' },
  {
    from: 'src/domain/',
    to: 'src/adapters/mysql-host.ts',
    why: 'MysqlHostError is how a database host says no.',
  },
  {
    from: 'src/domain/transfers/dispatch.ts',
    to: 'src/adapters/daemon-token.ts',
    why: 'Signing needs no external service.',
  },
  {
    from: 'src/domain/nodes/signed-urls.ts',
    to: 'src/adapters/daemon-token.ts',
    why: 'Signing needs no external service.',
  },
  {
    from: 'src/domain/servers/websocket-tokens.ts',
    to: 'src/adapters/daemon-token.ts',
    why: 'Signing needs no external service.',
  },
  {
    from: 'src/surfaces/',
    to: 'src/db/tables/servers.ts',
    why: 'The list of statuses, which answers are held to.',
  },
  {
    from: 'src/surfaces/application/relations.ts',
    to: 'src/db/relations.ts',
    why: 'Which relations there are is said once, beside their joins.',
  },
  {
    from: 'src/surfaces/monitoring.ts',
    to: 'src/metrics-text.ts',
    why: 'The text of `/metrics` is what it answers.',
  },
  {
    from: 'src/platform/node-metrics.ts',
    to: 'src/metrics-text.ts',
    why: 'Node adds the counters of all processes up before they are written.',
  },
  {
    from: 'src/platform/panel-gauges.ts',
    to: 'src/domain/operations/',
    why: 'The gauges are what the domain finds.',
  },
  { from: 'src/platform/panel-gauges.ts', to: 'src/version.ts', why: 'A gauge has the version.' },
  {
    from: 'src/platform/tracing/open-tracing.ts',
    to: 'src/version.ts',
    why: 'Traces have the version of what sent them.',
  },
  { from: 'src/platform/node.ts', to: 'src/domain/jobs/tick.ts', why: 'One process is its own clock.' },
  {
    from: 'src/platform/node.ts',
    to: 'src/domain/users/administrators.ts',
    why: 'A start says how to make the first one.',
  },
  {
    from: 'src/platform/',
    to: 'src/domain/auth/password-hash.ts',
    why: 'A process says which of its threads hash.',
  },
  {
    from: 'src/platform/local/',
    to: 'src/domain/operations/rotate-keys.ts',
    why: 'A start asks whether the keys fit the database.',
  },
  {
    from: 'src/platform/local/stored-state.ts',
    to: 'src/domain/operations/key-check.ts',
    why: 'A start compares the keys with those before.',
  },
  { from: 'src/platform/', to: 'src/domain/secrets.ts', why: 'Keys are imported once per process.' },
  {
    from: 'src/platform/',
    to: 'src/domain/nodes/daemon-address.ts',
    why: 'A panel reaches daemons by their rows, and the demo runs one.',
  },
  {
    from: 'src/platform/local/',
    to: 'src/domain/nodes/configuration.ts',
    why: "The demo's daemon is configured as any other.",
  },
  { from: 'src/platform/local/demo.ts', to: 'src/domain/servers/create.ts', why: 'The demo has a server.' },
  {
    from: 'src/platform/local/first-start.ts',
    to: 'src/domain/setup/code.ts',
    why: 'A start prints the code of the set-up.',
  },
  {
    from: 'src/platform/local/first-start.ts',
    to: 'drizzle/seed.ts',
    why: 'A set-up chooses among the included eggs.',
  },
  { from: 'src/platform/local/demo.ts', to: 'drizzle/seed.ts', why: 'The demo is made of the seed.' },
  {
    from: 'functions/all/node.ts',
    to: 'src/cli/operations.ts',
    why: 'The running process does what the command line asks it for.',
  },
  {
    from: 'functions/all/node.ts',
    to: 'src/cli/move-in-host/',
    why: 'Only Node has a disk for the dump of another panel.',
  },
]

const files = sourceFiles('functions', 'src', 'drizzle')
const imports = files.flatMap(importsOf)
const isIn = (path: string, places: string[]) => places.some((place) => path.startsWith(place))
const ruleOf = (file: string) => rules.find((rule) => file.startsWith(rule.files))

function isAllowed(each: Import): boolean {
  const rule = ruleOf(each.from)
  if (!rule) return false
  if (each.isPackage) {
    return rule.packages === 'any' || rule.packages.includes(each.to)
  }
  const own = rule.files.endsWith('/') ? [rule.files] : []
  if (isIn(each.to, [...own, ...rule.may, ...(each.isType ? (rule.mayType ?? []) : [])])) return true
  return exceptions.some(({ from, to }) => each.from.startsWith(from) && each.to.startsWith(to))
}

describe('the layers', () => {
  it('hold every file', () => {
    expect(files.filter((file) => !ruleOf(file))).toEqual([])
    expect(imports.length).toBeGreaterThan(500)
  })

  it('import only what stands below them', () => {
    const crossing = imports.filter((each) => !isAllowed(each))
    expect(
      crossing.map(({ from, to, isType }) => `${from} imports ${isType ? 'types of ' : ''}${to}`),
    ).toEqual([])
  })

  it('have no exceptions that nothing needs', () => {
    const unused = exceptions.filter(
      ({ from, to }) => !imports.some((each) => each.from.startsWith(from) && each.to.startsWith(to)),
    )
    expect(unused).toEqual([])
  })

  it('have no cycles', () => {
    expect(findCycle(imports.filter(({ isType }) => !isType))).toBeNull()
  })

  it('leave nothing out: what is imported is there', () => {
    const known = new Set(files)
    // Generated files are not there in a clone without a build.
    const missing = imports.filter(
      ({ to, isPackage }) => !isPackage && /(?<!\.gen)\.ts$/.test(to) && !known.has(to),
    )
    expect(missing.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
  })
})

describe('the code', () => {
  const everywhere = sourceFiles('functions', 'src', 'drizzle', 'test')
  const all = everywhere.flatMap(importsOf)

  it('imports zod whole, since its named import brings every language along', () => {
    const named = all.filter(
      ({ to, names, isType }) => to === 'zod' && !isType && !names.startsWith('* as z'),
    )
    expect(named.map(({ from }) => from)).toEqual([])
  })

  it('keeps away from the password hashing of oslo', () => {
    expect(everywhere.filter((file) => /from ['"]oslo\/password['"]/.test(readSource(file)))).toEqual([])
  })

  it('imports oslo, arctic, image-size and @simplewebauthn/server in one file each', () => {
    for (const name of ['oslo', 'arctic', 'image-size', '@simplewebauthn/server']) {
      expect(
        new Set(imports.filter(({ to }) => to === name).map(({ from }) => from)).size,
        name,
      ).toBeLessThan(2)
    }
  })

  it('reads the environment in the platform, the command line and the functions alone', () => {
    const readers = files.filter((file) => /\bprocess\s*\.\s*env\b|\bprocess\s*\[/.test(readSource(file)))
    expect(
      readers.filter((file) => !isIn(file, ['src/platform/', 'src/dev/', 'src/cli/', 'functions/'])),
    ).toEqual([])
  })

  it('asks no clock in the domain but the panel', () => {
    const clocks = files.filter((file) => /\bDate\.now\(|\bnew Date\(\)/.test(readSource(file)))
    expect(clocks.filter((file) => isIn(file, ['src/domain/', 'src/surfaces/', 'src/http/']))).toEqual([])
  })

  it('has no barrels and no files without a subject', () => {
    const vague = /^(index|utils?|helpers?|common|misc|shared|types|constants)\.tsx?$/
    // Pages are named by their addresses, with the marks of the router.
    const named = everywhere.filter((file) => !file.startsWith('src/web/routes/'))
    expect(named.filter((file) => vague.test(basename(file)))).toEqual([])
    expect(named.filter((file) => !/^[a-z0-9]+([.-][a-z0-9]+)*\.tsx?$/.test(basename(file)))).toEqual([])
  })

  it('has no long files', () => {
    const maxLinesOf = (file: string) => (file.startsWith('test/') ? 450 : 450)
    const written = everywhere.filter((file) => !file.endsWith('.gen.ts'))
    const long = written.filter((file) => readSource(file).split('\n').length - 1 > maxLinesOf(file))
    expect(long).toEqual([])
  })
})
