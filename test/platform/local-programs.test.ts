import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

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
