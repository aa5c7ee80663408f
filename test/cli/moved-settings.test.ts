import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { freePort } from '../support/panel-process.ts'
import { codesOf } from '../support/totp-codes.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase } from './old-database.ts'
import { appKeyText, encryptAsOldPanel, known } from './old-panel.ts'
import type { OldVersion } from './old-schema.ts'
import { openPanelBrowser, signIn } from './sign-in.ts'

const hasServers = (await findPostgres('settings that moved in')) && hasMysql

type Moved = Awaited<ReturnType<typeof openMoved>>

/** A panel to move into, and the database of an old one with its `.env`. */
async function openMoved(version: OldVersion) {
  const database = await createDatabase()
  const port = await freePort()
  const address = `http://localhost:${port}`
  const [old, cli]: [OldDatabase, CommandLine] = [
    await createOldDatabase(version),
    await openCommandLine({ DATABASE_URL: database.url, APP_URL: address, PORT: String(port) }),
  ]
  await cli.script('scripts/migrate.ts')
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  const kind = version === 'pelican' ? 'pelican' : 'pterodactyl'
  const envFile = join(cli.directory, 'old.env')
  const source = (env: boolean) => [
    '--database',
    old.url,
    // Without the zone of the file, schedules would be of UTC.
    ...(env ? ['--env', envFile] : ['--app-key', appKeyText, '--timezone', 'Europe/Berlin']),
  ]
  const run = async (verb: string, env: boolean, words: string[]) => {
    const { code, body } = await cli.json(verb, ...source(env), ...words)
    const settings = (body.findings ?? []).filter(({ table }: any) => /settings/.test(table))
    return {
      code,
      error: body.error,
      differences: body.differences,
      notes: body.notes,
      counted: body.tables?.find(({ table }: any) => table === 'settings'),
      reasons: settings.map(({ what, ids, reason }: any) => `${what} ${ids}: ${reason}`) as string[],
    }
  }
  return {
    old,
    sql,
    address,
    cli,
    writeEnv: (lines: string[]) => writeFile(envFile, [`APP_KEY=${appKeyText}`, ...lines].join('\n')),
    move: (...words: string[]) => run(`import:${kind}`, true, words),
    moveWithKey: (...words: string[]) => run(`import:${kind}`, false, words),
    verify: () => run('import:verify', true, []),
    /** The settings as the API shows them to an administrator. */
    shown: async () => {
      const panel = await cli.start()
      try {
        const browser = await openPanelBrowser(panel.url)
        const code = await codesOf(known.totpSecret)()
        await signIn(browser, 'ada', known.password, { authentication_code: code })
        return (await browser.call('/api/application/settings')).body.attributes
      } finally {
        await panel.stop()
      }
    },
    stored: async () =>
      Object.fromEntries(
        (await sql`select key, value::text from settings`).map(({ key, value }) => [key, JSON.parse(value)]),
      ),
    close: async () => {
      await sql.end()
      await cli.remove()
      await old.drop()
      await database.drop()
    },
  }
}

describe.skipIf(!hasServers)('settings of Pterodactyl', () => {
  let panel: Moved
  const rows: [string, string][] = [
    ['app:name', '2024'],
    ['app:locale', 'de'],
    ['mail:from:address', 'panel@games.test'],
    ['mail:mailers:smtp:host', 'smtp.games.test'],
    ['mail:mailers:smtp:password', encryptAsOldPanel('pterodactyl', 'a password')],
    ['mail:mailers:smtp:encryption', 'null'],
    ['mail:password', 'torn'],
    ['pterodactyl:auth:2fa_required', '1'],
    ['pterodactyl:guzzle:timeout', '30'],
    ['pterodactyl:client_features:allocations:enabled', 'true'],
    ['pterodactyl:client_features:allocations:range_start', '25000'],
    ['pterodactyl:client_features:allocations:range_end', '26000'],
    ['recaptcha:enabled', 'true'],
    ['recaptcha:website_key', 'site'],
    ['recaptcha:secret_key', '(null)'],
    ['store:currency', 'EUR'],
  ]
  const set = (key: string, value: string) =>
    panel.old.query(`update settings set value = '${value}' where \`key\` = 'settings::${key}'`)
  const env = [
    'APP_NAME="Not this one"',
    'APP_TIMEZONE=Europe/Berlin',
    'MAIL_FROM_NAME="${APP_NAME} # mail"',
    'MAIL_PASSWORD=secret',
    'BACKUP_THROTTLE_LIMIT=5',
    'BACKUP_THROTTLE_PERIOD=60',
    'APP_ACTIVITY_PRUNE_DAYS=ninety',
    'PTERODACTYL_SEND_INSTALL_NOTIFICATION=(false)',
    'APP_BACKUP_DRIVER=s3',
    'DB_PASSWORD=never read',
  ]

  beforeAll(async () => {
    panel = await openMoved('1.11')
    for (const [key, value] of rows) await panel.old.insert('settings', { key: `settings::${key}`, value })
    await panel.writeEnv(env)
  }, 120_000)
  afterAll(() => panel?.close())

  it('are reported, and what has no counterpart is named', { timeout: 240_000 }, async () => {
    const { code, counted, reasons } = await panel.move('--check')
    expect([code, counted]).toEqual([0, { table: 'settings', found: 16, movable: 13 }])
    expect(reasons.toSorted()).toEqual(
      [
        'left out 14: settings::recaptcha:website_key: its keys are of the invisible reCAPTCHA, and this panel shows the box: make keys for that and set captcha.provider',
        'left out 16: settings::store:currency: this panel has no such setting',
        'left out 4: settings::mail:mailers:smtp:host: the mail server of this panel is SMTP_URL of its environment',
        'left out 5: settings::mail:mailers:smtp:password: the mail server of this panel is SMTP_URL of its environment',
        'left out 7: settings::mail:password: the old panel reads it no more',
        'left out 9: settings::pterodactyl:guzzle:timeout: this panel has time limits of its own for daemons',
        'left out : APP_ACTIVITY_PRUNE_DAYS has no value that activity.retention_days can have',
        'left out : MAIL_PASSWORD: the mail server of this panel is SMTP_URL of its environment',
      ].toSorted(),
    )
    expect(await panel.stored()).toEqual({})
  })

  it('move, those of the database before those of the file', { timeout: 240_000 }, async () => {
    const { code, counted } = await panel.move()
    expect([code, counted]).toEqual([0, { table: 'settings', found: 16, movable: 13, written: 13 }])
    expect(await panel.shown()).toMatchObject({
      panel: { name: '2024', language: 'de', timezone: 'Europe/Berlin' },
      mail: { from_name: 'Not this one # mail', from_address: 'panel@games.test' },
      two_factor: { required: 'administrators' },
      features: { auto_allocation: true },
      auto_allocation: { range_start: 25_000, range_end: 26_000 },
      backups: { throttle_limit: 5, throttle_period: 60, default_disk: 's3' },
      notifications: { install: false, reinstall: true },
      activity: { retention_days: 90 },
      captcha: { provider: 'none' },
    })
    expect(await panel.sql`select key from setting_changes where changed_by is null`).toHaveLength(13)
  })

  it('stay in a second run, also without the file, and are equal', { timeout: 240_000 }, async () => {
    expect((await panel.move('--since')).counted.written).toBe(0)
    const before = await panel.stored()
    expect((await panel.moveWithKey('--since')).counted.written).toBe(0)
    expect(await panel.stored()).toEqual(before)
    expect(await panel.verify()).toMatchObject({ code: 0, differences: [] })
  })

  it('are carried over with --since, but not over what was set here', { timeout: 240_000 }, async () => {
    await panel.sql`update settings set value = '"Ours"' where key = 'panel.name'`
    await set('app:name', 'Theirs')
    await set('pterodactyl:auth:2fa_required', '2')
    await set('pterodactyl:client_features:allocations:range_end', '27000')
    await panel.old.query("delete from settings where `key` = 'settings::mail:from:address'")
    const { counted, reasons } = await panel.move('--since')
    expect(counted.written).toBe(2)
    expect(reasons).toContain('left out 1: panel.name is set here already, and stays')
    expect(await panel.stored()).toMatchObject({
      'panel.name': 'Ours',
      'two_factor.required': 'everybody',
      'auto_allocation.range_end': 27_000,
      'mail.from_address': 'panel@games.test',
    })
  })

  it('are compared', { timeout: 240_000 }, async () => {
    await set('pterodactyl:auth:2fa_required', '0')
    const { code, differences } = await panel.verify()
    expect([code, differences]).toEqual([
      1,
      [{ table: 'settings', id: 0, columns: ['two_factor.required value'] }],
    ])
  })
})

describe.skipIf(!hasServers)('settings that do not fit', () => {
  let panel: Moved
  beforeAll(async () => {
    panel = await openMoved('1.11')
  }, 120_000)
  afterAll(() => panel?.close())

  it('are left out with their group, and what an administrator set stays', { timeout: 240_000 }, async () => {
    await panel.sql`insert into settings (key, value) values ('auto_allocation.range_end', '30000'), ('auto_allocation.range_start', '29000'), ('mail.from_name', '"Equal"')`
    await panel.old.insert('settings', { key: 'settings::app:locale', value: 'tlh' })
    await panel.old.insert('settings', { key: 'settings::recaptcha:enabled', value: 'false' })
    await panel.old.insert('settings', { key: 'settings::recaptcha:website_key', value: 'site' })
    await panel.writeEnv([
      `APP_NAME=${'n'.repeat(61)}`,
      'MAIL_FROM_NAME=Equal',
      'MAIL_FROM_ADDRESS=no-reply@example.com',
      'APP_2FA_REQUIRED=7',
      'BACKUP_THROTTLE_PERIOD=0',
      'APP_TIMEZONE=UTC',
      'PTERODACTYL_CLIENT_ALLOCATIONS_ENABLED=true',
      'PTERODACTYL_CLIENT_ALLOCATIONS_RANGE_START=25000',
      'PTERODACTYL_CLIENT_ALLOCATIONS_RANGE_END=26000',
    ])
    const { code, reasons } = await panel.move()
    expect(code).toBe(0)
    expect(reasons.toSorted()).toEqual(
      [
        'left out 1: settings::app:locale has no value that panel.language can have',
        'left out : APP_2FA_REQUIRED has no value that two_factor.required can have',
        'left out : MAIL_FROM_ADDRESS is the example that the old panel came with',
        'left out : auto_allocation.range_start is set here already, and stays',
        'left out : panel.name cannot have the value that it has there',
      ].toSorted(),
    )
    expect(await panel.stored()).toEqual({
      'auto_allocation.range_start': 29_000,
      'auto_allocation.range_end': 30_000,
      'backups.throttle_limit': 0,
      'mail.from_name': 'Equal',
      'panel.timezone': 'UTC',
    })
  })

  it('count from the file alone where the old panel was told so', { timeout: 240_000 }, async () => {
    await panel.old.query("update settings set value = 'fr' where `key` = 'settings::app:locale'")
    await panel.writeEnv(['APP_ENVIRONMENT_ONLY=true', 'APP_LOCALE=es', 'APP_TIMEZONE=UTC'])
    await panel.move()
    expect((await panel.stored())['panel.language']).toBe('es')
  })

  it.each([
    ['HASHIDS_ALPHABET=abc', /HASHIDS_ALPHABET of --env needs 16 different letters/],
    ['HASHIDS_LENGTH=long', /HASHIDS_LENGTH of --env is no number/],
  ])('are refused: %s', async (line, reason) => {
    await panel.writeEnv([line])
    const { code, error } = await panel.move()
    expect([code, error]).toEqual([1, expect.stringMatching(reason)])
  })
})

describe.skipIf(!hasServers)('settings of Pelican', () => {
  let panel: Moved
  const env = [
    'APP_NAME=Bird',
    'APP_LOCALE=de',
    'CAPTCHA_TURNSTILE_ENABLED=true',
    'CAPTCHA_TURNSTILE_SITE_KEY=site-key',
    'CAPTCHA_TURNSTILE_SECRET_KEY=captcha-secret',
    'OAUTH_DISCORD_ENABLED=true',
    'OAUTH_DISCORD_CLIENT_ID=123456789012345678901',
    'OAUTH_DISCORD_CLIENT_SECRET=discord-secret',
    'OAUTH_GOOGLE_ENABLED=true',
    'OAUTH_STEAM_ENABLED=true',
    'PANEL_PER_SCHEDULE_TASK_LIMIT=20',
  ]
  beforeAll(async () => {
    panel = await openMoved('pelican')
    await panel.old.insert('settings', { key: 'settings::app:name', value: 'Not read there' })
    await panel.writeEnv(env)
  }, 120_000)
  afterAll(() => panel?.close())

  it('come from the file, with secrets that nothing shows', { timeout: 240_000 }, async () => {
    const { code, reasons } = await panel.move()
    expect(code).toBe(0)
    expect(reasons.toSorted()).toEqual([
      `changed : allow ${panel.address}/auth/oauth/discord/callback as a redirect address at discord`,
      'left out : OAUTH_GOOGLE lacks its credentials',
      'left out : OAUTH_STEAM_ENABLED: this panel signs in with that provider by OpenID Connect: set sign_in.oidc',
    ])
    const stored = await panel.stored()
    expect(stored).toMatchObject({
      'panel.name': 'Bird',
      'captcha.provider': 'turnstile',
      'sign_in.discord': true,
      'sign_in.discord_client_id': '123456789012345678901',
      'schedules.tasks_per_schedule': 20,
    })
    expect(JSON.stringify(stored)).not.toMatch(/captcha-secret|discord-secret/)
    expect(await panel.verify()).toMatchObject({ code: 0, differences: [] })
  })

  it('change with --since, secrets as well', { timeout: 240_000 }, async () => {
    await panel.writeEnv(env.map((line) => line.replace('discord-secret', 'another-secret')))
    expect((await panel.verify()).differences).toEqual([
      { table: 'settings', id: 0, columns: ['sign_in.discord_client_secret value'] },
    ])
    expect((await panel.move('--since')).counted.written).toBe(1)
    expect((await panel.verify()).differences).toEqual([])
    expect((await panel.move('--since')).counted.written).toBe(0)
  })
})
