import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type StubDaemon, startStubDaemon } from '../support/stub-daemon.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

describe('the command line beside a running panel', () => {
  let cli: CommandLine
  let running: Awaited<ReturnType<CommandLine['start']>>
  let daemon: StubDaemon
  let token = ''

  beforeAll(async () => {
    ;[cli, daemon] = await Promise.all([openCommandLine(), startStubDaemon()])
    // Leftovers of a crash do not matter.
    await writeFile(join(cli.directory, 'control.sock'), '')
    running = await cli.start()
  })
  afterAll(async () => {
    await running?.stop()
    await daemon?.close()
    await cli?.remove()
  })

  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
    const answer = await fetch(`${running.url}/api/application${path}`, init)
    return { status: answer.status, body: (await answer.json()) as any }
  }

  it('reaches it through a socket that only the owner can use', async () => {
    const { mode } = await stat(join(cli.directory, 'control.sock'))
    expect(mode & 0o777).toBe(0o600)
  })

  it('adds accounts, and tells no password that was given', async () => {
    const names = ['--first-name', 'Ada', '--last-name', 'Admin', '--password', 'correct horse']
    const admin = ['user:create', '--email', 'ada@roost.example', '--username', 'ada', '--admin', ...names]
    expect(await cli.json(...admin)).toEqual({
      code: 0,
      body: {
        id: 1,
        uuid: expect.any(String),
        username: 'ada',
        email: 'ada@roost.example',
        root_admin: true,
      },
    })
    expect(
      (await cli.json('user:create', '--email', 'p@roost.example', '--username', 'pat')).body,
    ).toMatchObject({
      root_admin: false,
      password: expect.stringMatching(/^\w{20}$/),
    })
  })

  it('verifies the address of an account, which is verified already when the command line added it', async () => {
    const { code, stdout } = await cli.panel('user:verify-email', 'pat')
    expect([code, stdout]).toEqual([0, 'p@roost.example is the verified address of pat.\n'])
    expect((await cli.panel('user:verify-email', 'unknown')).code).toBe(1)
  })

  it('refuses an account field by field', async () => {
    const words = ['user:create', '--email', 'no-address', '--username', '_', '--password', 'short']
    const { code, body } = await cli.json(...words)
    expect(code).toBe(1)
    expect(body.issues.map(({ field }: { field: string }) => field)).toEqual([
      'email',
      'username',
      'password',
    ])
  })

  it('adds an Application key that opens the Application API', async () => {
    const { code, body } = await cli.json('key:create', '--user', 'ADA', '--type', 'application')
    expect(code).toBe(0)
    expect(body).toMatchObject({ type: 'application', user: { id: 1, username: 'ada' }, acl: { nodes: 3 } })
    expect(body.token).toMatch(/^ptla_\w{43}$/)
    token = body.token
    expect((await call('GET', '/nodes')).status).toBe(200)
  })

  it('gives a key the levels and addresses that are named, and no others', async () => {
    const key = ['key:create', '--user', '1', '--type', 'application', '--description', 'For billing']
    const { body } = await cli.json(
      ...key,
      '--acl',
      'users=3',
      '--acl',
      'nodes=0',
      '--allowed-ip',
      '10.0.0.0/8',
    )
    expect(body).toMatchObject({
      acl: { users: 3, nodes: 0 },
      allowed_ips: ['10.0.0.0/8'],
      description: 'For billing',
    })
    expect(Object.keys(body.acl)).toHaveLength(2)
  })

  it('adds an account key to any account', async () => {
    const { code, stdout } = await cli.panel('key:create', '--user', 'p@roost.example', '--type', 'account')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^token +ptlc_\w{43}\ntype +account\nuser +pat\n$/)
  })

  it.each([
    { words: ['--user', 'pat', '--type', 'application'], says: 'pat is not an administrator' },
    { words: ['--user', 'unknown', '--type', 'account'], says: 'There is no account unknown.' },
    { words: ['--user', 'ada', '--type', 'account', '--acl', 'nodes=1'], says: 'Only an Application key' },
    { words: ['--user', 'ada', '--type', 'account', '--allowed-ip', 'home'], says: 'allowed_ips.0' },
    { words: ['--user', 'ada', '--type', 'daemon'], says: 'type' },
  ])('refuses the key for $words', async ({ words, says }) => {
    const { code, stderr } = await cli.panel('key:create', ...words)
    expect(code).toBe(1)
    expect(stderr).toContain(says)
  })

  it('prints the configuration of a node as YAML', async () => {
    const location = await call('POST', '/locations', { short: 'here' })
    const node = await call('POST', '/nodes', {
      name: 'Node one',
      location_id: location.body.attributes.id,
      fqdn: '127.0.0.1',
      scheme: 'http',
      memory: 1024,
      memory_overallocate: 0,
      disk: 1024,
      disk_overallocate: 0,
      daemonListen: daemon.port,
      daemonSFTP: 2022,
    })
    expect(node.status).toBe(201)
    const { body: configuration } = await call('GET', `/nodes/${node.body.attributes.id}/configuration`)
    const { code, stdout } = await cli.panel('node:configure', 'node one')
    expect(code).toBe(0)
    expect(stdout).toBe(
      [
        'debug: false',
        `uuid: "${configuration.uuid}"`,
        `token_id: "${configuration.token_id}"`,
        `token: "${configuration.token}"`,
        'api:',
        '  host: "0.0.0.0"',
        `  port: ${daemon.port}`,
        '  ssl:',
        '    enabled: false',
        '    cert: "/etc/letsencrypt/live/127.0.0.1/fullchain.pem"',
        '    key: "/etc/letsencrypt/live/127.0.0.1/privkey.pem"',
        '  upload_limit: 100',
        'system:',
        '  data: "/var/lib/pterodactyl/volumes"',
        '  sftp:',
        '    bind_port: 2022',
        'allowed_mounts: []',
        `remote: "${running.url}"`,
        '',
      ].join('\n'),
    )
    const { body } = await cli.json('node:configure', configuration.uuid)
    expect(body).toEqual({
      node: { id: node.body.attributes.id, uuid: configuration.uuid, name: 'Node one' },
      configuration,
    })
  })

  it('writes the configuration of a node into a new file of its owner', async () => {
    const file = join(cli.directory, 'config.yml')
    const { code, body } = await cli.json('node:configure', '1', '--out', file)
    expect({ code, body }).toMatchObject({ code: 0, body: { node: { id: 1 }, file } })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readFile(file, 'utf8')).toContain('token_id: "')
    const again = await cli.panel('node:configure', '1', '--out', file)
    expect(again).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `Database: embedded, in ${cli.directory}\n${file} already exists: move it away first.\n`,
    })
  })

  it('prints a command for Wings whose key can fetch the configuration and little else', async () => {
    const { code, stdout } = await cli.panel('node:configure', '1', '--command')
    expect(code).toBe(0)
    const [, url, key = ''] =
      /^wings configure --panel-url (\S+) --token (\S+) --node 1\n$/.exec(stdout) ?? []
    expect(url).toBe(running.url)
    const asAdministrator = token
    token = key
    const statuses = [await call('GET', '/nodes/1/configuration'), await call('GET', '/locations')]
    token = asAdministrator
    expect(statuses.map(({ status }) => status)).toEqual([200, 403])
  })

  it('refuses a node that does not exist', async () => {
    expect(await cli.json('node:configure', 'elsewhere')).toEqual({
      code: 1,
      body: { error: 'There is no node elsewhere.' },
    })
  })

  it('examines the daemon of every node', async () => {
    daemon.respond({ json: { version: '1.12.1' } })
    const { code, stdout } = await cli.panel('doctor')
    expect(stdout).toContain(`ok    node Node one  Wings 1.12.1 at http://127.0.0.1:${daemon.port}\n`)
    expect(code).toBe(0)
    daemon.respond({ status: 403, json: { error: 'The token is not right.' } })
    const refused = await cli.json('doctor')
    expect(refused.code).toBe(1)
    expect(refused.body.checks.at(-1)).toEqual({
      name: 'node Node one',
      state: 'fail',
      detail: `http://127.0.0.1:${daemon.port}: The token is not right.`,
    })
  })

  it('imports eggs from files and from standard input', async () => {
    const demo = 'drizzle/eggs/applications/demo.json'
    const { code, stdout } = await cli.panel('egg:import', demo)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '13  Demo  new\n' })
    const again = await cli.script('panel.ts', ['egg:import', '-', '--json'], await readFile(demo, 'utf8'))
    expect(JSON.parse(again.stdout).eggs).toMatchObject([
      { file: 'standard input', id: 13, state: 'updated' },
    ])
  })

  it('imports no egg when one of them has faults', async () => {
    const faulty = join(cli.directory, 'faulty.json')
    await writeFile(faulty, JSON.stringify({ meta: { version: 'PTDL_v2' }, name: 'Faulty' }))
    const words = [
      'egg:import',
      'drizzle/eggs/applications/nodejs.json',
      faulty,
      'wrangler.toml',
      '--nest',
      'Mine',
    ]
    const { code, stdout, stderr } = await cli.panel(...words)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`  ${faulty}: author: is missing\n`)
    expect(stderr).toContain('  wrangler.toml: is not YAML')
    const nests = await call('GET', '/nests')
    // A panel without a demo starts with the eggs that it ships.
    const shipped = ['Minecraft', 'Steam', 'Sandbox', 'Applications']
    expect(nests.body.data.map((nest: any) => nest.attributes.name)).toEqual([...shipped, 'Imported'])
  })

  it('imports an egg in YAML, and replaces one of another origin with --replace alone', async () => {
    const file = join(cli.directory, 'plain.yaml')
    const yaml = (author: string) =>
      [
        'meta: { version: PLCN_v3, update_url: null }',
        `author: ${author}`,
        'name: Plain',
        'docker_images: { Plain: acme/plain:1 }',
        'startup_commands: { Default: ./run }',
        'config: { startup: { done: up }, stop: stop }',
        'variables: {  }',
      ].join('\n')
    await writeFile(file, yaml('one@eggs.example'))
    expect((await cli.panel('egg:import', file)).stdout).toMatch(/^\d+ {2}Plain {2}new\n$/)
    await writeFile(file, yaml('two@eggs.example'))
    const refused = await cli.panel('egg:import', file)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('another origin (one@')])
    expect((await cli.panel('egg:import', file, '--replace')).stdout).toContain('Plain  updated')
  })

  it('adds the eggs that come with the panel, as often as it is asked, and keeps edited ones', async () => {
    for (const _time of [1, 2]) {
      const { code, stdout } = await cli.script('scripts/seed.ts')
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'The included eggs are up to date.\n' })
    }
    const { body: listed } = await call('GET', '/nests?include=eggs')
    const eggs = listed.data.flatMap(({ attributes }: any) => attributes.relationships.eggs.data)
    const { id, nest } = eggs.find(({ attributes }: any) => attributes.name === 'Rust').attributes
    await call('PATCH', `/nests/${nest}/eggs/${id}`, { startup: 'mine' })
    const kept = await cli.script('scripts/seed.ts')
    expect(kept.stdout).toContain(`edited (--replace writes them, too):\n  ${id}  Steam: Rust\n`)
    expect((await cli.script('scripts/seed.ts', ['--replace'])).stdout).not.toContain('Rust')
    const words = ['egg:import', 'drizzle/eggs/applications/demo.json', '--nest', 'applications']
    const { code, body } = await cli.json(...words)
    expect(code).toBe(0)
    expect(body.eggs).toMatchObject([{ name: 'Demo', state: 'updated', warnings: [] }])
  })

  it('refuses a number that no nest has', async () => {
    const words = ['egg:import', 'drizzle/eggs/applications/demo.json', '--nest', '99']
    expect(await cli.json(...words)).toEqual({ code: 1, body: { error: 'There is no nest 99.' } })
  })

  it('cannot migrate a database that is open', async () => {
    const { code, stderr } = await cli.script('scripts/migrate.ts')
    expect(code).toBe(1)
    expect(stderr).toContain('is in use by process')
  })

  it('finds no socket once the panel has ended', async () => {
    expect(await running.stop()).toBe(0)
    await expect(stat(join(cli.directory, 'control.sock'))).rejects.toThrow('ENOENT')
  })
})
