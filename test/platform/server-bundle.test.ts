import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleServer } from '../../src/cli/bundler.ts'
import { makePanelFolder } from '../support/panel-folder.ts'
import { startProcess } from '../support/processes.ts'

describe('the program of npm start', () => {
  let root: string
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'roost-start-'))
    await mkdir(join(root, 'functions/all'), { recursive: true })
    await mkdir(join(root, 'dist/server'), { recursive: true })
    await copyFile('functions/all/start.js', join(root, 'functions/all/start.js'))
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
  it(
    'starts the demo, whose server is installed, and has a map for each file',
    { timeout: 120_000 },
    async () => {
      await bundleServer()
      const { data, remove } = await makePanelFolder()
      try {
        const running = await startProcess('dist/server/main.mjs', {
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
        } finally {
          await running.stop()
        }
      } finally {
        await remove()
      }
      const files = await readdir('dist/server')
      const code = files.filter((file) => file.endsWith('.mjs'))
      expect(code).toContain('main.mjs')
      expect(code.filter((file) => !files.includes(`${file}.map`))).toEqual([])
    },
  )
})
