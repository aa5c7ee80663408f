import * as z from 'zod'
import { definitionOf, settingKeys } from '../domain/setting-definitions.ts'
import { variableGroups } from '../platform/env.ts'
import { EnvSchema, type VariableNote } from '../platform/env-schema.ts'
import { s3Presets } from '../platform/s3-options.ts'
import { neededByClouds } from '../platform/stage.ts'

type Described = VariableNote & {
  enum?: string[]
  format?: string
  minimum?: number
  maximum?: number
  default?: unknown
}

/** The page about environment and settings, in Markdown: its tables are read from their definitions. */
export function configurationReference(): string {
  const { properties = {} } = z.toJSONSchema(EnvSchema(), { io: 'input', unrepresentable: 'any' })
  const { shape } = EnvSchema()
  const rows = Object.entries(shape).map(([name, schema]) => {
    // What is transformed has its default only on the other side.
    const described = { default: schema.safeParse(undefined).data, ...(properties[name] as object) }
    return rowOf(name, described as Described)
  })
  return `${[
    '# Configuration',
    'Made by `npm run config-reference -- --out docs/configuration.md` from `src/platform/env-schema.ts` and\n`src/domain/setting-definitions.ts`; change it there.',
    introduction,
    '## Variables',
    table(['Variable', 'Meaning', 'Form', 'Default', 'Read by', 'Needed by'], rows),
    '## What must come together',
    variableGroups.map((names) => `- ${names.map(code).join(', ')}: all of them, or none.`).join('\n'),
    '## Object stores',
    '`S3_PRESET` gives what is not set itself:',
    table(['Preset', '`S3_ENDPOINT`', '`S3_REGION`', '`S3_PATH_STYLE`'], presetRows()),
    '## Settings',
    aboutSettings,
    table(['Setting', 'Meaning', 'Default'], settingKeys.map(settingRow)),
  ].join('\n\n')}\n`
}

const introduction = `Empty values count as unset. A value that does not fit stops \`npm start\` and the command line with one message that
names every variable at fault. On Workers and Lambda each request is then answered with 503, and the faults are logged.

\`npm start\` needs nothing: what is set uses the real thing, the rest is embedded under \`DATA_DIR\`. The Node process
reads every variable. The column "Read by" says which functions on Workers and Lambda do, or that only the Node process or
Lambda does; the command line reads what the Node process reads. Variables that are needed by Workers and Lambda are needed
by each function, since each opens all of its parts. What is set beside them does no harm where it is not read, but for
\`DEMO=true\`, which is refused there.

What is made for development is refused once \`APP_URL\` is not on loopback: the keys, token and switch of QStash's development
server, \`QSTASH_URL\` without encryption, \`NEON_LOCAL_PROXY\` on another machine. On Workers and Lambda \`APP_URL\` and \`JOBS_URL\` have to
be \`https://\` then.

What is switched while the panel runs (ways to sign in, captcha, sender of mails, backups, retention) are
[settings](#settings).`

const aboutSettings = `Administrators change them while the panel runs. \`GET /api/application/settings\` shows all of them,
\`PATCH\` changes those that are sent, by group and name, and \`null\` goes back to the default:

\`\`\`bash
curl -s "$URL/api/application/settings" -X PATCH \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{
    "sign_in": {"registration": true, "github": true, "github_client_id": "Iv1.…", "github_client_secret": "…"},
    "captcha": {"provider": "turnstile", "site_key": "…", "secret": "…"},
    "two_factor": {"required": "administrators"}
  }'
\`\`\`

Register the panel at a provider with the address \`APP_URL/auth/oauth/<provider>/callback\`, the provider being \`google\`,
\`github\`, \`discord\` or \`oidc\`. Passkeys need a host name with HTTPS, or \`localhost\`. Before
\`backups.default_disk\` is \`s3\`, \`npm run panel -- backup:test\` does with the store whatever backups need.`

function rowOf(name: string, described: Described): string[] {
  const isNeeded = (neededByClouds as readonly string[]).includes(name)
  return [
    code(name),
    described.description,
    described.form ?? formOf(name, described),
    defaultOf(name, described),
    described.readBy.join(', '),
    isNeeded ? 'Workers, Lambda' : '',
  ]
}

/** Throws when neither the schema nor its note says how the value is written. */
function formOf(name: string, { enum: choices, format, minimum, maximum }: Described): string {
  if (choices) return choices.map(code).join(', ')
  if (format === 'uri') return '`http://` or `https://` address'
  if (minimum === undefined) throw new Error(`Nothing says how ${name} is written.`)
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
  return isBounded ? `whole number from ${minimum} to ${maximum}` : `whole number, at least ${minimum}`
}

function defaultOf(name: string, described: Described): string {
  const fallback = described.default
  if (fallback === undefined) {
    if (!described.unset) throw new Error(`Nothing says what holds without ${name}.`)
    return described.unset
  }
  return code(typeof fallback === 'object' ? JSON.stringify(fallback) : String(fallback))
}

function settingRow(key: (typeof settingKeys)[number]): string[] {
  const { description, fallback, isSecret } = definitionOf(key)
  const meaning = isSecret ? `${description} Stored sealed, shown to nobody.` : description
  const written = typeof fallback === 'object' ? JSON.stringify(fallback) : String(fallback)
  return [code(key), meaning, fallback === null ? 'unset' : code(written)]
}

function presetRows(): string[][] {
  return Object.entries(s3Presets).map(([name, preset]) => {
    const endpoint = preset.endpoint('<region>')
    const example = 'example' in preset ? preset.example : ''
    return [
      code(name),
      endpoint === undefined ? `needed, as in ${code(example)}` : endpoint === null ? 'AWS' : code(endpoint),
      preset.region === null ? 'needed' : code(preset.region),
      code(String(preset.pathStyle)),
    ]
  })
}

const code = (text: string) => `\`${text}\``

/** Columns as wide as the widest cell, as the formatter writes them. */
function table(heading: string[], rows: string[][]): string {
  const lines = [heading, ...rows]
  const widths = heading.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)))
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = widths.map((width) => '-'.repeat(width))
  return [line(heading), line(rule), ...rows.map(line)].join('\n')
}
