import { execFile } from 'node:child_process'
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleServer } from '../../src/cli/server-bundler.ts'
import { prepareSnapshot } from '../../src/platform/local/pglite.ts'
import { makePanelFolder } from '../support/panel-folder.ts'
import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import { startProcess } from '../support/processes.ts'

describe('the program of npm start', () => {
  let root: string
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'roost-start-'))
    await mkdir(join(root, 'functions/all'), { recursive: true })
    await mkdir(join(root, 'dist/server'), { recursive: true })
    await mkdir(join(root, 'src/platform'), { recursive: true })
    const programs = [
      'functions/all/start.js',
      'functions/all/node-version.js',
      'src/platform/built-program.js',
    ]
    for (const file of programs) await copyFile(file, join(root, file))
    await writeFile(join(root, 'package.json'), '{ "type": "module" }')
    await writeFile(join(root, 'functions/all/node.ts'), `console.log('sources')`)
    await writeFile(join(root, 'dist/server/main.mjs'), `console.log('bundle')`)
    await writeFile(join(root, 'dist/server/inputs.json'), '["functions/all/node.ts"]')
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  const changeSource = (secondsAfterBundle: number) => {
    const at = Date.now() / 1000 + secondsAfterBundle
    return utimes(join(root, 'functions/all/node.ts'), at, at)
  }
  const run = async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'functions/all/start.js')])
    return stdout.trim()
  }

  it('runs the bundle while no file of it is newer, and else the sources', async () => {
    await changeSource(-60)
    expect(await run()).toBe('bundle')
    await changeSource(60)
    expect(await run()).toBe('sources')
  })

  it('runs the sources when a file of the bundle is gone, or the bundle is unfinished', async () => {
    await changeSource(-60)
    await writeFile(join(root, 'dist/server/inputs.json'), '["functions/all/node.ts", "src/gone.ts"]')
    expect(await run()).toBe('sources')
    await rm(join(root, 'dist/server/inputs.json'))
    expect(await run()).toBe('sources')
  })
})

describe('the bundle of the panel', () => {
  let imports: string[]
  /** Has `dist`, and nothing beside it. */
  let root: string
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'roost-bundle-'))
    imports = await bundleServer(join(root, 'dist'))
    await prepareSnapshot()
    for (const name of ['web', 'cache'])
      await cp(join('dist', name), join(root, 'dist', name), { recursive: true })
  }, 120_000)
  afterAll(() => rm(root, { recursive: true, force: true }))

  const run = (program: string, args: string[], env: Record<string, string> = {}) =>
    promisify(execFile)(process.execPath, [join(root, 'dist/server', program), ...args], {
      cwd: root,
      env: { PATH: process.env.PATH, ...env },
    })

  it('needs nothing but Node, and has a map for each file', async () => {
    const outside = imports.filter((path) => !isBuiltin(path) && !path.startsWith('./pglite/'))
    // What packages look for and do without: another driver, compiled helpers, colours of statements.
    const optional = ['@node-rs/xxhash', 'bufferutil', 'cardinal', 'pg-native', 'utf-8-validate']
    expect(outside.toSorted()).toEqual(optional)
    const files = await readdir(join(root, 'dist/server'), { recursive: true })
    expect(files.filter((file) => file.endsWith('.node'))).toEqual([])
    const code = files.filter((file) => file.endsWith('.mjs'))
    expect(code).toEqual(expect.arrayContaining(['main.mjs', 'panel.mjs', 'seed.mjs', 'migrate.mjs']))
    expect(code.filter((file) => !files.includes(`${file}.map`))).toEqual([])
  })

  it(
    'starts the demo where only it was copied to, and its programs use it',
    { timeout: 120_000 },
    async () => {
      const { data, remove } = await makePanelFolder()
      try {
        const running = await startProcess(join(root, 'dist/server/main.mjs'), {
          cwd: root,
          env: { PORT: '0', DATA_DIR: data },
          ready: /Roost serves at/,
        })
        try {
          const { url, server, user } = JSON.parse(await readFile(join(data, 'bootstrap.json'), 'utf8'))
          const answer = await fetch(`${url}/api/client/servers/${server.identifier}`, {
            headers: { authorization: `Bearer ${user.client_key}` },
          })
          const { attributes } = (await answer.json()) as { attributes: Record<string, unknown> }
          expect(attributes).toMatchObject({ uuid: server.uuid, status: null })
          expect((await fetch(`${url}/robots.txt`)).status).toBe(200)
          expect(await (await fetch(`${url}/auth/login`)).text()).toContain('<!doctype html>')

          const create = ['user:create', '--email', 'you@example.com', '--username', 'you', '--json']
          const created = await run('panel.mjs', create, { DATA_DIR: data })
          expect(JSON.parse(created.stdout)).toMatchObject({ username: 'you' })
          expect((await run('seed.mjs', [], { DATA_DIR: data })).stdout).toContain('up to date')
        } finally {
          await running.stop()
        }
        // The snapshot that the build made is the one that the bundle looks for: it has made none of its own.
        expect(await readdir(join(root, 'dist/cache'))).toEqual([
          expect.stringMatching(/^pglite-.*\.tar\.gz$/),
        ])
        expect((await run('migrate.mjs', [], { DATA_DIR: data })).stdout).toContain('the newest schema')
      } finally {
        await remove()
      }
    },
  )

  it('sends traces, by a part of it that is loaded for them alone', { timeout: 60_000 }, async () => {
    const folder = join(root, 'dist/server')
    const files = (await readdir(folder)).filter((name) => name.endsWith('.mjs'))
    const code = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
    const withSdk = files.filter((_name, at) => code[at]?.includes('application/x-protobuf'))
    expect(withSdk).toEqual([expect.stringMatching(/^open-tracing-/)])
    expect(code.filter((text) => text.includes(`from"./${withSdk[0]}"`))).toEqual([])

    const receiver = await startOtlpReceiver()
    const { data, remove } = await makePanelFolder()
    const running = await startProcess(join(root, 'dist/server/main.mjs'), {
      cwd: root,
      env: { PORT: '0', DATA_DIR: data, DEMO: 'false', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      ready: /Roost serves at/,
    })
    await running.stop()
    expect(receiver.spans.map(({ name }) => name)).toContain('tick')
    await receiver.close()
    await remove()
  })

  it('names its commands as they are called there', async () => {
    const { stdout } = await run('panel.mjs', ['--help'])
    expect(stdout).toContain(`Usage: node ${join(root, 'dist/server/panel.mjs')} VERB`)
    const outside = await run('panel.mjs', ['doctor', '--help'], {
      PANEL_COMMAND: 'docker compose exec panel panel',
    })
    expect(outside.stdout).toContain('Usage: docker compose exec panel panel doctor')
  })

  it.each(['22.17.1', '20.19.0'])('ends with one line in Node %s', async (version) => {
    const older = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`
    const main = join(root, 'dist/server/main.mjs')
    const ended = promisify(execFile)(process.execPath, ['--import', `data:text/javascript,${older}`, main])
    await expect(ended).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Roost needs Node 22\.18 or newer, and .*: install a newer one\.\n$/),
    })
  })
})
