import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const programs = {
  daemon: fileURLToPath(new URL('../../src/dev/daemon/main.ts', import.meta.url)),
  qstash: fileURLToPath(new URL('../../src/dev/qstash/main.ts', import.meta.url)),
}

const run = (name: keyof typeof programs, ...args: string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [programs[name], ...args], (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr })
    })
  })

describe.each(['daemon', 'qstash'] as const)('npm run %s', (name) => {
  it('prints its usage for --help', async () => {
    const { code, stdout } = await run(name, '--help')
    expect(stdout).toContain(`Usage: npm run ${name} -- `)
    expect(code).toBe(0)
  })

  it('exits with code 2 and its usage for an unknown option', async () => {
    const { code, stdout, stderr } = await run(name, '--fast')
    expect(stderr).toMatch(new RegExp(`^Unknown option '--fast'.*\n\nUsage: npm run ${name} -- `))
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })
})

describe('npm run daemon', () => {
  it('exits with code 2 without a configuration', async () => {
    const { code, stderr } = await run('daemon', '--data', 'data')
    expect(stderr).toMatch(/^--config and --data are required\.\n\nUsage: /)
    expect(code).toBe(2)
  })

  it('configures itself by the options of `wings configure`', async () => {
    const configuration = { uuid: 'u', token_id: 't', token: 'secret', remote: 'http://panel.test' }
    const panel = createServer((request, response) => {
      const isKnown = request.headers.authorization === 'Bearer key'
      response.statusCode = isKnown ? 200 : 403
      response.end(JSON.stringify(isKnown && request.url?.includes('/nodes/7/') ? configuration : {}))
    })
    await once(panel.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void panel.close())
    const folder = await mkdtemp(join(tmpdir(), 'daemon-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const url = `http://127.0.0.1:${(panel.address() as AddressInfo).port}`
    const file = join(folder, 'node.json')
    const configure = (token: string, node: string) =>
      run('daemon', 'configure', '--panel-url', url, '--token', token, '--node', node, '--config', file)
    expect(await configure('other', '7')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('refuses'),
    })
    expect(await configure('key', '8')).toMatchObject({ code: 1 })
    expect(await configure('key', '7')).toMatchObject({ code: 0 })
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(configuration)
    expect((await run('daemon', 'configure', '--node', '7')).code).toBe(2)
  })
})

describe('npm run qstash', () => {
  it.each(['x', '65536', '-1'])('refuses the port %s', async (port) => {
    const { code, stderr } = await run('qstash', `--port=${port}`)
    expect(stderr).toContain(`--port ${port} is not a port number.\n\nUsage: `)
    expect(code).toBe(2)
  })

  it('prints one line when its port is in use', async () => {
    const other = createServer()
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const { port } = other.address() as AddressInfo
    const { code, stderr } = await run('qstash', '--port', String(port))
    other.close()
    expect(stderr).toBe(`listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`)
    expect(code).toBe(1)
  })
})
