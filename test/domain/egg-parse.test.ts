import { describe, expect, it } from 'vitest'
import { exportEgg } from '../../src/domain/eggs/export.ts'
import { parseEgg } from '../../src/domain/eggs/parse.ts'
import { pelican, pterodactyl, variable } from './egg-documents.ts'

describe('Pterodactyl documents', () => {
  it('become rows to insert', async () => {
    expect(await parseEgg(pterodactyl())).toMatchObject({
      egg: {
        name: 'Plain',
        author: 'maker@eggs.example',
        description: 'A plain egg',
        features: ['eula'],
        dockerImages: { 'Java 21': 'ghcr.io/acme/java:21', 'Java 17': '~local/java:17' },
        fileDenylist: ['*.key'],
        updateUrl: 'https://eggs.example/plain.json',
        configFiles: {
          'server.properties': {
            parser: 'properties',
            find: { 'server-port': '{{server.build.default.port}}' },
          },
        },
        configStartup: { done: 'ready', userInteraction: [] },
        configLogs: {},
        configStop: 'stop',
        startup: 'java -jar {{SERVER_JARFILE}} --port {{SERVER_PORT}}',
        scriptContainer: 'alpine:3.20',
        scriptEntry: 'ash',
        scriptInstall: '#!/bin/ash\necho hi\n',
      },
      variables: [
        {
          name: 'Jar',
          description: 'File that is started',
          envVariable: 'SERVER_JARFILE',
          defaultValue: 'server.jar',
          userViewable: true,
          userEditable: true,
          rules: 'required|string|max:40',
        },
      ],
      warnings: [],
    })
  })

  it('of the first version name images by list or alone', async () => {
    const meta = { version: 'PTDL_v1' }
    const list = await parseEgg(
      pterodactyl({ meta, docker_images: undefined, images: ['acme/a:1', 'acme/b:1'] }),
    )
    expect(list.egg.dockerImages).toEqual({ 'acme/a:1': 'acme/a:1', 'acme/b:1': 'acme/b:1' })
    const single = await parseEgg(pterodactyl({ meta, docker_images: undefined, image: 'acme/a:1' }))
    expect(single.egg.dockerImages).toEqual({ 'acme/a:1': 'acme/a:1' })
  })

  it('keep the order of images', async () => {
    const names = Object.keys((await parseEgg(pterodactyl())).egg.dockerImages)
    expect(names).toEqual(['Java 21', 'Java 17'])
  })

  it('have a denylist as list, as object with holes, or none', async () => {
    expect((await parseEgg(pterodactyl({ file_denylist: { 0: 'a', 2: 'b' } }))).egg.fileDenylist).toEqual([
      'a',
      'b',
    ])
    expect((await parseEgg(pterodactyl({ file_denylist: undefined }))).egg.fileDenylist).toEqual([])
    expect((await parseEgg(pterodactyl({ file_denylist: [] }))).egg.fileDenylist).toEqual([])
  })

  it('leave absent configuration null and fill in the script', async () => {
    const { egg } = await parseEgg(
      pterodactyl({ config: {}, scripts: {}, features: null, description: null }),
    )
    expect(egg).toMatchObject({
      configFiles: null,
      configStartup: null,
      configLogs: null,
      configStop: null,
      features: null,
      description: null,
      scriptContainer: 'alpine:3.4',
      scriptEntry: 'ash',
      scriptInstall: null,
    })
  })

  it('take empty lists where PHP wrote an empty object as one', async () => {
    const { egg } = await parseEgg(
      pterodactyl({ config: { files: '[]', startup: '{"done":"x"}', logs: '[]', stop: 'x' } }),
    )
    expect(egg.configFiles).toEqual({})
    expect(egg.configLogs).toEqual({})
  })

  it('lose configuration files the daemon could not handle, with a warning each', async () => {
    const files = JSON.stringify({
      'a.txt': { parser: 'file' },
      'b.txt': { parser: 'file', find: 'x' },
      'c.txt': { find: { a: 'b' } },
      'd.txt': { parser: 'toml', find: {} },
      'e.txt': 'text',
      'f.txt': { parser: 'yml', find: [] },
    })
    const { egg, warnings } = await parseEgg(
      pterodactyl({ config: { files, startup: '{"done":"x"}', stop: 'x' } }),
    )
    expect(egg.configFiles).toEqual({ 'f.txt': { parser: 'yml', find: {} } })
    expect(warnings).toHaveLength(5)
  })

  it('have booleans and numbers as default values', async () => {
    const variables = [
      { ...variable, env_variable: 'A', default_value: true },
      { ...variable, env_variable: 'B', default_value: false },
      { ...variable, env_variable: 'C', default_value: 25 },
      { ...variable, env_variable: 'D', default_value: null, description: null, rules: null },
    ]
    const parsed = (await parseEgg(pterodactyl({ variables }))).variables
    expect(parsed.map((each) => each.defaultValue)).toEqual(['1', '0', '25', ''])
    expect(parsed[3]).toMatchObject({ description: '', rules: '' })
  })

  it('have visibility as booleans, numbers or nothing', async () => {
    const variables = [{ ...variable, user_viewable: 1, user_editable: undefined }]
    expect((await parseEgg(pterodactyl({ variables }))).variables[0]).toMatchObject({
      userViewable: true,
      userEditable: false,
    })
  })

  it('report rules that cannot be used without refusing the egg', async () => {
    const variables = [{ ...variable, rules: 'required|regex:/(?=a)b/|frobnicate' }]
    const { warnings } = await parseEgg(pterodactyl({ variables }))
    expect(warnings).toHaveLength(2)
    expect(warnings.join()).toContain('refused_pattern')
    expect(warnings.join()).toContain('unknown_rule')
  })

  it('define a variable twice and the later one counts', async () => {
    const variables = [variable, { ...variable, default_value: 'other.jar' }]
    const parsed = await parseEgg(pterodactyl({ variables }))
    expect(parsed.variables.map((each) => each.defaultValue)).toEqual(['other.jar'])
    expect(parsed.warnings).toHaveLength(1)
  })
})

describe('Pelican documents', () => {
  it('become the same rows', async () => {
    const { uuid, egg, variables, warnings } = await parseEgg(pelican())
    expect(uuid).toBe('0c2f7a10-9b1d-4e55-8a3e-6f0d2b1c4e7a')
    expect(egg).toMatchObject({
      startup: 'java -jar {{SERVER_JARFILE}}',
      fileDenylist: [],
      configFiles: { 'a.yml': { parser: 'yaml', find: { port: '{{server.allocations.default.port}}' } } },
      configStartup: { done: ['ready', 'regex:^up$'], strip_ansi: true },
      configStop: '^C',
    })
    expect(variables[0]?.rules).toBe('required|string|max:40')
    expect(warnings).toEqual([])
  })

  it('of the first two versions have one startup command and JSON text', async () => {
    for (const version of ['PLCN_v1', 'PLCN_v2']) {
      const { egg } = await parseEgg(
        pterodactyl({ meta: { version }, variables: [{ ...variable, rules: ['required', 'regex:/a|b/'] }] }),
      )
      expect(egg.startup).toContain('java -jar')
      expect(egg.configStartup).toEqual({ done: 'ready', userInteraction: [] })
    }
  })

  it('keep only their first startup command', async () => {
    const { egg, warnings } = await parseEgg(
      pelican({ startup_commands: { Default: './one', Other: './two' } }),
    )
    expect(egg.startup).toBe('./one')
    expect(warnings).toHaveLength(1)
  })

  it('rename reserved variables, also in the startup command', async () => {
    const { egg, variables, warnings } = await parseEgg(
      pelican({
        startup_commands: ['run {{UUID}} ${HOME} $HOME $HOMEWARD {{motd}} {{SERVER_PORT}}'],
        variables: [
          { ...variable, env_variable: 'uuid' },
          { ...variable, env_variable: 'UUID' },
          { ...variable, env_variable: 'HOME' },
          { ...variable, env_variable: 'motd' },
        ],
      }),
    )
    expect(egg.startup).toBe(
      'run {{SERVER_UUID}} ${SERVER_HOME} $SERVER_HOME $HOMEWARD {{MOTD}} {{SERVER_PORT}}',
    )
    expect(variables.map((each) => each.envVariable)).toEqual(['SERVER_UUID', 'SERVER_HOME', 'MOTD'])
    expect(warnings.length).toBeGreaterThan(2)
  })

  it('write booleans as their rules want them', async () => {
    const variables = [
      { ...variable, env_variable: 'A', default_value: true, rules: ['required', 'string'] },
      { ...variable, env_variable: 'B', default_value: false, rules: ['required', 'boolean'] },
    ]
    const parsed = (await parseEgg(pelican({ variables }))).variables
    expect(parsed.map((each) => each.defaultValue)).toEqual(['true', '0'])
  })

  it('order variables by their sort number', async () => {
    const variables = [
      { ...variable, env_variable: 'C' },
      { ...variable, env_variable: 'B', sort: 2 },
      { ...variable, env_variable: 'A', sort: 1 },
      { ...variable, env_variable: 'D' },
    ]
    const names = (await parseEgg(pelican({ variables }))).variables.map((each) => each.envVariable)
    expect(names).toEqual(['A', 'B', 'C', 'D'])
  })

  it('lose a uuid that is none', async () => {
    expect(await parseEgg(pelican({ uuid: 'x' }))).not.toHaveProperty('uuid')
  })
})

describe('exported eggs', () => {
  const now = new Date('2031-05-06T07:08:09.123Z')

  it('are documents of the second Pterodactyl format', async () => {
    const { egg, variables } = await parseEgg(pterodactyl())
    const document = exportEgg(egg, variables, now)
    expect(document.meta).toEqual({ version: 'PTDL_v2', update_url: 'https://eggs.example/plain.json' })
    expect(document.exported_at).toBe('2031-05-06T07:08:09+00:00')
    expect(JSON.parse(document.config.files)).toEqual(egg.configFiles)
    expect(document.variables).toEqual([variable])
    expect(document).not.toHaveProperty('query_game')
  })

  it('name the game by which they are asked who plays, where that is set', async () => {
    const { egg, variables } = await parseEgg(pterodactyl({ query_game: 'rust' }))
    expect(egg.queryGame).toBe('rust')
    expect(exportEgg(egg, variables, now).query_game).toBe('rust')
    const odd = await parseEgg(pterodactyl({ query_game: ['Rust'] }))
    expect(odd.egg).not.toHaveProperty('queryGame')
    expect(odd.warnings).toHaveLength(1)
  })

  for (const [name, source] of [
    ['a Pterodactyl document', pterodactyl()],
    ['a Pelican document', pelican()],
  ] as const) {
    it(`read back as they were after ${name}`, async () => {
      const { egg, variables } = await parseEgg(source)
      const again = await parseEgg(JSON.parse(JSON.stringify(exportEgg(egg, variables, now))))
      expect(again).toMatchObject({ egg, variables, warnings: [] })
    })
  }
})
